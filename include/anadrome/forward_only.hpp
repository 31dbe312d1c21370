/* SPDX-License-Identifier: BSD-2-Clause */
/** \file
 *  Time loops of which only the forward step is written: what adolc.hpp and codipack.hpp share. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "anadrome/anadrome.hpp"

namespace anadrome {

/// What adolc::gradient and codipack::gradient return.
struct Derivatives {
  double objective = 0;               ///< the sum over the ranks
  std::vector<double> by_state;       ///< dJ/du_0 of this rank
  std::vector<double> by_parameters;  ///< dJ/dp, the sum over the ranks
};

/// @cond private
namespace detail {

// `tape` records a function of u and p once, and gives the weights of these from those of what the
// function returns.
template <class Tape, class Step>
void reverse_step(const Tape& tape, const Step& step, const std::vector<double>& u,
                  const std::vector<double>& p, std::int64_t k, std::vector<double>& lambda,
                  std::vector<double>& by_parameters) {
  const std::vector<double> weights =
      tape.weights_of_arguments(u, p, lambda, [&](auto& traced_u, const auto& traced_p) {
        step(traced_u, traced_p, k);
        return traced_u;
      });
  std::copy_n(weights.begin(), lambda.size(), lambda.begin());
  for (std::size_t i = 0; i < p.size(); ++i) by_parameters[i] += weights[u.size() + i];
}

template <class Tape, class Step, class Objective>
Derivatives gradient(const Tape& tape, Run& run, MPI_Comm comm, const Step& step,
                     std::vector<double> u, const std::vector<double>& p, std::int64_t steps,
                     const Objective& objective) {
  Derivatives result;
  std::vector<double>& lambda = result.by_state;
  lambda.assign(u.size(), 0);
  result.by_parameters.assign(p.size(), 0);
  run.add_field("u", u);
  run.add_field("dJ_du", lambda, ANADROME_ROLE_ADJOINT);
  run.add_field("dJ_dp", result.by_parameters, ANADROME_ROLE_ADJOINT);
  run.add_field("J", &result.objective, 1, ANADROME_ROLE_ADJOINT);
  run.begin(steps);
  std::int64_t goes_on_at = 0;
  run.resumed(goes_on_at);  // to say that it is known; u is as it must be
  for (Action action = run.next(); action.kind != ANADROME_DONE; action = run.next()) {
    if (action.kind == ANADROME_ADVANCE) {
      for (std::int64_t k = action.first; k < action.last; ++k) step(u, p, k);
    } else if (action.kind == ANADROME_TURN) {
      result.objective = objective(u, p);
      const std::vector<double> weights =
          tape.weights_of_arguments(u, p, {1.0}, [&](const auto& traced_u, const auto& traced_p) {
            return std::vector{objective(traced_u, traced_p)};
          });
      const auto of_p = weights.begin() + static_cast<std::ptrdiff_t>(u.size());
      std::copy(weights.begin(), of_p, lambda.begin());
      std::copy(of_p, weights.end(), result.by_parameters.begin());
    } else if (action.kind == ANADROME_ADJOINT) {
      reverse_step(tape, step, u, p, action.first, lambda, result.by_parameters);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &result.objective, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, result.by_parameters.data(), static_cast<int>(p.size()), MPI_DOUBLE,
                MPI_SUM, comm);
  return result;
}

}  // namespace detail
/// @endcond

}  // namespace anadrome
