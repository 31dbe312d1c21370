/* SPDX-License-Identifier: BSD-2-Clause */
/** \file
 *  The adjoint of a time loop of which only the forward step is written: ADOL-C derives the rest.
 *  Header only, over anadrome.hpp and ADOL-C 2.7 (Debian: libadolc-dev; link with -ladolc).
 *
 *  A step is a function of a number type: double where states are computed, `adouble` where one
 *  step is recorded, so that it can be reversed. There is a tape of one step at a time, however
 *  many steps there are. MPI is called through an Exchange. One thread; the tape numbers are
 *  ADOL-C's. */
#pragma once

#include <adolc/adolc.h>
#include <adolc/externfcts2.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "anadrome/forward_only.hpp"

namespace anadrome::adolc {

/// The tape that gradient() uses.
constexpr short kTape = 0;

/// A linear change of values in place that ADOL-C cannot see into, such as filling halos by MPI: in
/// a recorded step an external function. It must live as long as tapes on which it is.
class Exchange : public ExchangeOfValues {
 public:
  /// The functions as for ExchangeOfValues.
  Exchange(Function forward, Function adjoint)
      : ExchangeOfValues(std::move(forward), std::move(adjoint)),
        function_(reg_ext_fct(&Exchange::on_tape)) {
    function_->fos_reverse = &Exchange::in_reverse;
    function_->zos_forward = &Exchange::on_tape;
    function_->context = this;
  }

  using ExchangeOfValues::operator();
  /// The same on the tape.
  void operator()(std::vector<adouble>& values) const {
    // ADOL-C wants arrays whose places on the tape follow each other; those of a vector may not.
    // It wants an element, too, where a rank has no values: there is one more.
    const std::size_t size = values.size() + 1;
    ensureContiguousLocations(2 * size);
    std::vector<adouble> before(size), after(size);
    std::copy(values.begin(), values.end(), before.begin());
    before.back() = 0;
    adouble *from = before.data(), *to = after.data();
    int count = static_cast<int>(size);
    call_ext_fct(function_, 0, nullptr, 1, 1, &count, &from, &count, &to);
    std::copy_n(after.begin(), values.size(), values.begin());
  }

 private:
  static int on_tape(int, int*, int, int, int* count, double** x, int*, double** y,
                     void* exchange) {
    const std::size_t values = static_cast<std::size_t>(count[0]) - 1;
    static_cast<Exchange*>(exchange)->compute(x[0], values, y[0]);
    y[0][values] = 0;
    return 0;
  }
  static int in_reverse(int, int*, int, int, int*, double** weights, int* count, double** result,
                        double**, double**, void* exchange) {
    const std::size_t values = static_cast<std::size_t>(count[0]) - 1;
    static_cast<Exchange*>(exchange)->reverse(weights[0], values, result[0]);
    result[0][values] = 0;
    return 0;
  }

  ext_diff_fct_v2* function_;
};

/// @cond private
namespace detail {

struct Recording {  // also where the function throws
  explicit Recording(short tape) { trace_on(tape, 1); }
  ~Recording() { trace_off(); }
};

struct Tape {
  short number;

  template <class Function>
  std::vector<double> weights_of_arguments(const std::vector<double>& u,
                                           const std::vector<double>& p,
                                           std::vector<double> weights_of_results,
                                           const Function& function) const {
    // One more argument, which is one more result: where a rank has none, exchanges are reversed.
    weights_of_results.push_back(0);
    {
      const Recording recording(number);
      std::vector<adouble> traced_u(u.size()), traced_p(p.size());
      adouble one_more;
      for (std::size_t i = 0; i < u.size(); ++i) traced_u[i] <<= u[i];
      for (std::size_t i = 0; i < p.size(); ++i) traced_p[i] <<= p[i];
      one_more <<= 0;
      std::vector<adouble> results = function(traced_u, traced_p);
      double value;
      for (adouble& result : results) result >>= value;
      one_more >>= value;
    }
    std::vector<double> weights(u.size() + p.size() + 1);
    fos_reverse(number, static_cast<int>(weights_of_results.size()),
                static_cast<int>(weights.size()), weights_of_results.data(), weights.data());
    weights.pop_back();
    return weights;
  }
};

}  // namespace detail
/// @endcond

/// One adjoint step: `lambda` becomes dJ/du_k from dJ/du_{k+1}, and what step k adds to dJ/dp is
/// added to `by_parameters`. `u` is u_k. For loops of your own; collective where the step is.
template <class Step>
void reverse(const Step& step, const std::vector<double>& u, const std::vector<double>& p,
             std::int64_t k, std::vector<double>& lambda, std::vector<double>& by_parameters,
             short tape = kTape) {
  anadrome::detail::reverse_step(detail::Tape{tape}, step, u, p, k, lambda, by_parameters);
}

/// The gradient of J = sum over the ranks of objective(u_n, p) for u_{k+1} = step(u_k, p, k).
///
/// `step(u, p, k)` changes u in place, and `objective(u, p)` returns this rank's part; both are
/// templates, or generic lambdas, over the number type T of `std::vector<T>& u` and
/// `const std::vector<T>& p`. Parameters p are the same on all ranks. `run` has its options set,
/// and fields of the model that are not differentiated are added to it; this adds u, and dJ/du,
/// dJ/dp, J and a hash of u_0 and p as adjoint fields, so that a run is resumed with resume=on, and
/// by no other problem (ERR_ARGUMENT, on all ranks). Collective over `comm`, which is the run's.
/// Throws anadrome::Error as the run does, and what a step throws.
template <class Step, class Objective>
Derivatives gradient(Run& run, MPI_Comm comm, const Step& step, std::vector<double> u_0,
                     const std::vector<double>& p, std::int64_t steps, const Objective& objective) {
  return anadrome::detail::gradient(detail::Tape{kTape}, run, comm, step, std::move(u_0), p, steps,
                                    objective);
}

}  // namespace anadrome::adolc
