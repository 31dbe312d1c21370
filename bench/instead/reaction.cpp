// SPDX-License-Identifier: BSD-2-Clause
// For loop.py.
#include "reaction.h"

extern "C" {
void reaction_fill(std::size_t side, double* u) { reaction::fill(side, u); }
void reaction_step(std::size_t side, double* u, double* work) { reaction::step(side, u, work); }
void reaction_adjoint_step(std::size_t side, const double* u, double* lambda, double* work) {
  reaction::adjoint_step(side, u, lambda, work);
}
}
