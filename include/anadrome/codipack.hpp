/* SPDX-License-Identifier: BSD-2-Clause */
/** \file
 *  The adjoint of a time loop of which only the forward step is written: CoDiPack derives the rest.
 *  Header only, over anadrome.hpp and CoDiPack 3.1, which is header only, too.
 *
 *  As adolc.hpp, which see: a step is a function of a number type, double or codi::RealReverse, and
 *  there is a tape of one step at a time. It is the tape of codi::RealReverse, which is reset for
 *  each step: nothing else may be on it meanwhile. */
#pragma once

#include <codi.hpp>
#include <utility>
#include <vector>

#include "anadrome/forward_only.hpp"

namespace anadrome::codipack {

/// The number type of recorded steps.
using Number = codi::RealReverse;

/// As adolc::Exchange.
class Exchange : public ExchangeOfValues {
 public:
  using ExchangeOfValues::ExchangeOfValues;

  using ExchangeOfValues::operator();
  /// The same on the tape.
  void operator()(std::vector<Number>& values) const {
    std::vector<Number> after(values.size());
    codi::ExternalFunctionHelper<Number> helper;
    for (const Number& value : values) helper.addInput(value);
    for (Number& value : after) helper.addOutput(value);
    helper.addUserData(this);
    helper.callPrimalFunc(&Exchange::on_tape);
    helper.addToTape(&Exchange::in_reverse);
    values.swap(after);
  }

 private:
  static void on_tape(const double* x, std::size_t count, double* y, std::size_t,
                      codi::ExternalFunctionUserData* data) {
    data->getDataByIndex<const Exchange*>(0)->compute(x, count, y);
  }
  static void in_reverse(const double*, double* weights, std::size_t count, const double*,
                         const double* weights_of_results, std::size_t,
                         codi::ExternalFunctionUserData* data) {
    data->getDataByIndex<const Exchange*>(0)->reverse(weights_of_results, count, weights);
  }
};

/// @cond private
namespace detail {

struct Recording {  // also where the function throws
  Recording() {
    Number::getTape().reset();
    Number::getTape().setActive();
  }
  ~Recording() {
    Number::getTape().setPassive();
    Number::getTape().reset();
  }
};

struct Tape {
  template <class Function>
  std::vector<double> weights_of_arguments(const std::vector<double>& u,
                                           const std::vector<double>& p,
                                           const std::vector<double>& weights_of_results,
                                           const Function& function) const {
    auto& tape = Number::getTape();
    const Recording recording;
    std::vector<Number> traced_u(u.begin(), u.end()), traced_p(p.begin(), p.end());
    for (Number& each : traced_u) tape.registerInput(each);
    for (Number& each : traced_p) tape.registerInput(each);
    const std::vector<Number> of_u = traced_u;  // the step changes them
    std::vector<Number> results = function(traced_u, traced_p);
    for (Number& result : results) tape.registerOutput(result);
    tape.setPassive();
    for (std::size_t i = 0; i < results.size(); ++i) results[i].setGradient(weights_of_results[i]);
    tape.evaluate();
    std::vector<double> weights;
    for (const Number& each : of_u) weights.push_back(each.getGradient());
    for (const Number& each : traced_p) weights.push_back(each.getGradient());
    return weights;
  }
};

}  // namespace detail
/// @endcond

/// As adolc::reverse.
template <class Step>
void reverse(const Step& step, const std::vector<double>& u, const std::vector<double>& p,
             std::int64_t k, std::vector<double>& lambda, std::vector<double>& by_parameters) {
  anadrome::detail::reverse_step(detail::Tape{}, step, u, p, k, lambda, by_parameters);
}

/// As adolc::gradient.
template <class Step, class Objective>
Derivatives gradient(Run& run, MPI_Comm comm, const Step& step, std::vector<double> u_0,
                     const std::vector<double>& p, std::int64_t steps, const Objective& objective) {
  return anadrome::detail::gradient(detail::Tape{}, run, comm, step, std::move(u_0), p, steps,
                                    objective);
}

}  // namespace anadrome::codipack
