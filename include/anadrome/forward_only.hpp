/* SPDX-License-Identifier: BSD-2-Clause */
/** \file
 *  Time loops of which only the forward step is written: what adolc.hpp and codipack.hpp share. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "anadrome/anadrome.hpp"

namespace anadrome {

/// What adolc::gradient and codipack::gradient return.
struct Derivatives {
  double objective = 0;               ///< the sum over the ranks
  std::vector<double> by_state;       ///< dJ/du_0 of this rank
  std::vector<double> by_parameters;  ///< dJ/dp, the sum over the ranks
};

/// A linear change of values in place, of which a tool has a form that it can reverse:
/// adolc::Exchange and codipack::Exchange. Collective where its functions are.
class ExchangeOfValues {
 public:
  /// Changes `count` values in place.
  using Function = std::function<void(double* values, std::size_t count)>;

  /// `forward` changes values, u = A u; `adjoint` weights by the transpose, w = A^T w: it adds the
  /// weight of each copy to that of its original, and sets the weights of what was overwritten
  /// to 0.
  ExchangeOfValues(Function forward, Function adjoint)
      : forward_(std::move(forward)), adjoint_(std::move(adjoint)) {}
  ExchangeOfValues(const ExchangeOfValues&) = delete;
  ExchangeOfValues& operator=(const ExchangeOfValues&) = delete;

  /// The values themselves.
  void operator()(std::vector<double>& values) const { forward_(values.data(), values.size()); }

 protected:
  /// @cond private
  ~ExchangeOfValues() = default;
  void compute(const double* from, std::size_t count, double* to) const {
    forward_(std::copy_n(from, count, to) - count, count);
  }
  void reverse(const double* weights, std::size_t count, double* result) const {
    adjoint_(std::copy_n(weights, count, result) - count, count);
  }
  /// @endcond

 private:
  const Function forward_, adjoint_;
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

// What the run begins with on all ranks: the same number on each. FNV-1a.
inline std::int64_t hash_of_start(MPI_Comm comm, const std::vector<double>& u,
                                  const std::vector<double>& p) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::uint64_t about[] = {static_cast<std::uint64_t>(rank), u.size(), p.size()};
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](const void* values, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      hash = (hash ^ static_cast<const unsigned char*>(values)[i]) * 0x100000001b3U;
    }
  };
  add(about, sizeof about);
  add(u.data(), u.size() * sizeof(double));
  add(p.data(), p.size() * sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, comm);
  return static_cast<std::int64_t>(hash);
}

template <class Tape, class Step, class Objective>
Derivatives gradient(const Tape& tape, Run& run, MPI_Comm comm, const Step& step,
                     std::vector<double> u, const std::vector<double>& p, std::int64_t steps,
                     const Objective& objective) {
  // Before any call that may fail on one rank alone.
  const std::int64_t own_start = hash_of_start(comm, u, p);
  Derivatives result;
  std::vector<double>& lambda = result.by_state;
  lambda.assign(u.size(), 0);
  result.by_parameters.assign(p.size(), 0);
  run.add_field("u", u);
  run.add_field("dJ_du", lambda, ANADROME_ROLE_ADJOINT);
  run.add_field("dJ_dp", result.by_parameters, ANADROME_ROLE_ADJOINT);
  run.add_field("J", &result.objective, 1, ANADROME_ROLE_ADJOINT);
  std::int64_t start = own_start;  // resume=on brings that of the run before
  run.add_field("u_0_and_p", &start, 1, ANADROME_ROLE_ADJOINT);
  run.begin(steps);
  std::int64_t goes_on_at = 0;
  run.resumed(goes_on_at);  // to say that it is known; u is as it must be
  if (start != own_start) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "u_0 or p are others than in the run that is gone on with: give each start a name "
                "of its own, or resume=off");
  }
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
