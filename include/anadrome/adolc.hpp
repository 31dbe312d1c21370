/* SPDX-License-Identifier: BSD-2-Clause */
/** \file
 *  The adjoint of a time loop of which only the forward step is written: ADOL-C derives the rest.
 *  Header only, over anadrome.hpp and ADOL-C 2.7 (Debian: libadolc-dev; link with -ladolc).
 *
 *  A step is a function of a number type: double where states are computed, `adouble` where one
 *  step is recorded, so that it can be reversed. There is a tape of one step at a time, however
 * many steps there are. MPI is called through an Exchange. One thread; the tape numbers are
 * ADOL-C's. */
#pragma once

#include <adolc/adolc.h>
#include <adolc/externfcts2.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "anadrome/anadrome.hpp"

namespace anadrome::adolc {

/// The tape that gradient() uses.
constexpr short kTape = 0;

/// A linear change of values in place that ADOL-C cannot see into, such as filling halos by MPI.
/// Collective where its functions are. It must live as long as tapes on which it is.
class Exchange {
 public:
  /// Changes `count` values in place.
  using Function = std::function<void(double* values, std::size_t count)>;

  /// `forward` changes values, u = A u; `adjoint` weights by the transpose, w = A^T w: it adds the
  /// weight of each copy to that of its original, and sets the weights of what was overwritten to
  /// 0.
  Exchange(Function forward, Function adjoint)
      : forward_(std::move(forward)), adjoint_(std::move(adjoint)) {
    function_ = reg_ext_fct(&Exchange::compute);
    function_->fos_reverse = &Exchange::reverse;
    function_->zos_forward = &Exchange::compute;
    function_->context = this;
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The values themselves.
  void operator()(std::vector<double>& values) const { forward_(values.data(), values.size()); }

  /// The same on the tape.
  void operator()(std::vector<adouble>& values) const {
    std::vector<adouble> changed(values.size());
    adouble *from = values.data(), *to = changed.data();
    int count = static_cast<int>(values.size());
    call_ext_fct(function_, 0, nullptr, 1, 1, &count, &from, &count, &to);
    values.swap(changed);
  }

 private:
  static int compute(int, int*, int, int, int* count, double** x, int*, double** y, void* context) {
    std::copy_n(x[0], count[0], y[0]);
    static_cast<Exchange*>(context)->forward_(y[0], static_cast<std::size_t>(count[0]));
    return 0;
  }
  static int reverse(int, int*, int, int, int*, double** weights, int* count, double** result,
                     double**, double**, void* context) {
    std::copy_n(weights[0], count[0], result[0]);
    static_cast<Exchange*>(context)->adjoint_(result[0], static_cast<std::size_t>(count[0]));
    return 0;
  }

  const Function forward_, adjoint_;
  ext_diff_fct_v2* function_;
};

/// @cond private
namespace detail {

// The weights of a function's arguments u and p from those of its results: function(u, p) has
// changed u, or returns one value.
template <class Function>
std::vector<double> weights_of_arguments(short tape, const std::vector<double>& u,
                                         const std::vector<double>& p,
                                         std::vector<double> weights_of_results,
                                         const Function& function) {
  trace_on(tape, 1);
  {
    std::vector<adouble> traced_u(u.size()), traced_p(p.size());
    for (std::size_t i = 0; i < u.size(); ++i) traced_u[i] <<= u[i];
    for (std::size_t i = 0; i < p.size(); ++i) traced_p[i] <<= p[i];
    function(traced_u, traced_p);
  }
  trace_off();
  std::vector<double> weights(u.size() + p.size());
  if (!weights.empty() && !weights_of_results.empty()) {
    fos_reverse(tape, static_cast<int>(weights_of_results.size()), static_cast<int>(weights.size()),
                weights_of_results.data(), weights.data());
  }
  return weights;
}

}  // namespace detail
/// @endcond

/// One adjoint step: `lambda` becomes dJ/du_k from dJ/du_{k+1}, and what step k adds to dJ/dp is
/// added to `by_parameters`. `u` is u_k. For loops of your own; collective where the step is.
template <class Step>
void reverse(short tape, const Step& step, const std::vector<double>& u,
             const std::vector<double>& p, std::int64_t k, std::vector<double>& lambda,
             std::vector<double>& by_parameters) {
  const std::vector<double> weights = detail::weights_of_arguments(
      tape, u, p, lambda, [&](std::vector<adouble>& traced_u, std::vector<adouble>& traced_p) {
        step(traced_u, traced_p, k);
        double value;
        for (adouble& each : traced_u) each >>= value;
      });
  std::copy_n(weights.begin(), lambda.size(), lambda.begin());
  for (std::size_t i = 0; i < p.size(); ++i) by_parameters[i] += weights[u.size() + i];
}

/// What gradient() returns.
struct Derivatives {
  double objective = 0;               ///< the sum over the ranks
  std::vector<double> by_state;       ///< dJ/du_0 of this rank
  std::vector<double> by_parameters;  ///< dJ/dp, the sum over the ranks
};

/// The gradient of J = sum over the ranks of objective(u_n, p) for u_{k+1} = step(u_k, p, k).
///
/// `step(u, p, k)` changes u in place, and `objective(u, p)` returns this rank's part; both are
/// templates, or generic lambdas, over the number type T of `std::vector<T>& u` and
/// `const std::vector<T>& p`. Parameters p are the same on all ranks. `run` has its options set,
/// and fields of the model that are not differentiated are added to it; this adds u, and dJ/du,
/// dJ/dp and J as adjoint fields, so that a run is resumed with resume=on. Collective over `comm`,
/// which is the run's. Throws anadrome::Error as the run does, and what a step throws.
template <class Step, class Objective>
Derivatives gradient(Run& run, MPI_Comm comm, const Step& step, std::vector<double> u,
                     const std::vector<double>& p, std::int64_t steps, const Objective& objective) {
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
      const std::vector<double> weights = detail::weights_of_arguments(
          kTape, u, p, {1.0}, [&](std::vector<adouble>& traced_u, std::vector<adouble>& traced_p) {
            adouble value = objective(traced_u, traced_p);
            value >>= result.objective;
          });
      std::copy_n(weights.begin(), u.size(), lambda.begin());
      std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(u.size()), p.size(),
                  result.by_parameters.begin());
    } else if (action.kind == ANADROME_ADJOINT) {
      reverse(kTape, step, u, p, action.first, lambda, result.by_parameters);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &result.objective, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, result.by_parameters.data(), static_cast<int>(p.size()), MPI_DOUBLE,
                MPI_SUM, comm);
  return result;
}

}  // namespace anadrome::adolc
