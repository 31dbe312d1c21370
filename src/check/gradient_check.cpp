// SPDX-License-Identifier: BSD-2-Clause
#include "check/gradient_check.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "base/callback.h"
#include "base/checksum.h"
#include "base/index.h"
#include "base/text_out.h"
#include "check/gradient_findings.h"
#include "check/rehearsal.h"
#include "engine/solve.h"
#include "store/files/file_system.h"
#include "store/memory/device_mover.h"

namespace anadrome::engine {
namespace {

constexpr double kSmaller = 10;  // each than the one before
constexpr std::int64_t kDefaultSeeds = 3, kDefaultProducts = 32;
constexpr double kEpsilon = 1e-2, kEpsilonOfSingle = 1e-1;
constexpr int kNoiseValues = 5;

// The first and the last step, and others at equal distances.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t steps) {
  std::vector<std::int64_t> spread;
  count = std::min(count, steps);
  for (std::int64_t i = 0; i < count; ++i) {
    const double at = count == 1 ? 0 : real(i) * real(steps - 1) / real(count - 1);
    spread.push_back(std::llround(at));
  }
  return spread;
}

std::string names_of(const std::vector<store::Field>& fields, const std::vector<FieldPair>& pairs,
                     const char* role) {
  std::string names;
  for (const store::Field& field : fields) {
    const bool paired = std::any_of(pairs.begin(), pairs.end(), [&](const FieldPair& pair) {
      return pair.state.name == field.name || pair.adjoint.name == field.name;
    });
    if (!paired) names += (names.empty() ? std::string(role) + " " : ", ") + field.name;
  }
  return names;
}

class GradientCheck {
 public:
  GradientCheck(Run& run, std::int64_t steps) : run_(run), steps_(steps) {}

  /// Compares what the ranks were given. Collective.
  void take(const anadrome_model* model, const anadrome_gradient* gradient, Failure failure);
  /// Collective.
  anadrome_gradient_check carry_out();

 private:
  Failure fault() const;
  std::int64_t hash() const;
  /// What every rank returned, from rank 0; throws where another returned something else.
  double agree_on(double value, const char* callback);
  double objective();
  double objective_at(std::int64_t seed, double epsilon);
  void sweep();
  void measure_noise();
  void run_series(std::int64_t seed);
  void test_products();
  void put_back();
  void report(const anadrome_gradient_check& check);

  Run& run_;
  std::int64_t steps_;
  anadrome_model model_ = {};
  anadrome_gradient gradient_ = {};
  std::string pairs_text_, report_;
  std::optional<Rehearsal> rehearsal_;
  std::vector<FieldPair> pairs_;
  GradientFindings findings_;
};

// ---- arguments ----

Failure GradientCheck::fault() const {
  const auto wrong = [](const char* why) {
    return Failure{ANADROME_ERR_ARGUMENT, std::string("check_gradient: ") + why};
  };
  const anadrome_gradient& given = gradient_;
  if (given.perturb == nullptr || given.objective == nullptr || given.derivative == nullptr) {
    return wrong("perturb, objective and derivative are required");
  }
  if (steps_ < 1) return wrong("give the number of steps, 1 or more");
  if (given.seeds < 0 || given.seeds > ANADROME_MOST_SEEDS) {
    return wrong("seeds are 1 to ANADROME_MOST_SEEDS, or 0");
  }
  if (!(given.epsilon >= 0) || !std::isfinite(given.epsilon)) {
    return wrong("epsilon is a positive number, or 0");
  }
  if (given.product_steps < 0) return wrong("product_steps is negative");
  if (run_.resumes()) {
    return {ANADROME_ERR_UNSUPPORTED,
            "check_gradient: its sweeps cannot be resumed; set resume=off"};
  }
  return {};
}

std::int64_t GradientCheck::hash() const {
  const std::string all =
      pairs_text_ + ":" + std::to_string(steps_) + ":" + std::to_string(gradient_.seeds) + ":" +
      std::to_string(std::bit_cast<std::int64_t>(gradient_.epsilon)) + ":" +
      std::to_string(gradient_.product_steps) + ":" + (gradient_.mask != nullptr ? "mask" : "");
  return static_cast<std::int64_t>(hash_of(all));
}

void GradientCheck::take(const anadrome_model* model, const anadrome_gradient* gradient,
                         Failure failure) {
  Held& held = run_.held();
  held.clear();
  std::int64_t hash = 0;
  held.attempt([&] {
    if (!failure) model_ = model_of(run_, model, "check_gradient", failure);
    if (!failure && (gradient == nullptr || gradient->size < sizeof(std::size_t))) {
      failure = {ANADROME_ERR_ARGUMENT,
                 "check_gradient: set gradient.size = sizeof(anadrome_gradient)"};
    }
    if (!failure) {
      std::memcpy(&gradient_, gradient, std::min(gradient->size, sizeof gradient_));
      if (gradient_.pairs != nullptr) pairs_text_ = gradient_.pairs;
      if (gradient_.report != nullptr) report_ = gradient_.report;
      const bool writes_file = run_.ranks().rank() == 0 && !report_.empty() && report_ != "-";
      if (writes_file) {
        report_ = std::filesystem::absolute(report_).string();
        store::require_writable(report_);
      }
      for (const store::Field& field : run_.fields().all()) {
        if (!failure && field.exchanged && store::on_device(field) != nullptr) {
          failure = {ANADROME_ERR_UNSUPPORTED,
                     "check_gradient: exchanged field '" + field.name +
                         "' is on a device; register the fields by anadrome_add_device_field"};
        }
      }
      if (!failure) failure = fault();
      hash = this->hash();
    }
    if (failure) throw Error(failure.status, failure.message);
    rehearsal_.emplace(run_, model_);
    pairs_ = parse_pairs(pairs_text_, rehearsal_->state(), rehearsal_->adjoint_fields());
    findings_.steps = steps_;
    findings_.ranks = run_.ranks().size();
    findings_.unit = unit_round_off(rehearsal_->state());
    const bool single = findings_.unit > unit_round_off(ANADROME_FLOAT64);
    if (gradient_.epsilon == 0) gradient_.epsilon = single ? kEpsilonOfSingle : kEpsilon;
    if (gradient_.seeds == 0) gradient_.seeds = kDefaultSeeds;
    findings_.series.resize(size(gradient_.seeds));
    for (TaylorSeries& series : findings_.series) {
      for (auto* const numbers : {&series.epsilon, &series.objective})
        numbers->reserve(TaylorSeries::kMost);
    }
    if (gradient_.product_steps == 0) gradient_.product_steps = kDefaultProducts;
  });
  run_.agree_on_check(hash, "what check_gradient was given");
  rehearsal_->keep_entry();
  rehearsal_->agree();
}

// ---- objectives ----

double GradientCheck::agree_on(double value, const char* callback) {
  double first = value;
  Ranks& ranks = run_.ranks();
  ranks.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
  const bool same = value == first || (std::isnan(value) && std::isnan(first)) ||
                    std::abs(value - first) <= 1e-6 * std::abs(first);
  if (!same) {
    rehearsal_->attempt([&] {
      throw Error(ANADROME_ERR_ARGUMENT,
                  std::string("check_gradient: ") + callback + " gives " + format_in_full(value) +
                      " here and " + format_in_full(first) +
                      " on rank 0; it has to be the sum over all ranks on each");
    });
  }
  rehearsal_->agree();
  return first;
}

double GradientCheck::objective() {
  double objective = 0;
  rehearsal_->note("objective", gradient_.objective, gradient_.context, &objective);
  return objective;
}

double GradientCheck::objective_at(std::int64_t seed, double epsilon) {
  rehearsal_->restore_entry();
  rehearsal_->note("perturb", gradient_.perturb, gradient_.context, seed, epsilon);
  rehearsal_->start();
  rehearsal_->advance(0, steps_);
  rehearsal_->turn(steps_);
  const double here = objective();
  rehearsal_->agree();
  return agree_on(here, "objective");
}

// The gradient, by the run and with its options.
void GradientCheck::sweep() {
  double here = 0;
  solve(run_, steps_, model_, {}, [&] {
    const Failure failed = failure_of_callback({"the callback objective"}, gradient_.objective,
                                               gradient_.context, &here);
    if (failed) run_.fail(failed.message);
    rehearsal_->keep_turn();
  });
  findings_.objective = agree_on(here, "objective");
  for (std::int64_t seed = 1; seed <= gradient_.seeds; ++seed) {
    TaylorSeries& series = findings_.series[size(seed - 1)];
    double derivative = 0;
    rehearsal_->note("derivative", gradient_.derivative, gradient_.context, seed, &derivative);
    rehearsal_->agree();
    series.derivative = agree_on(derivative, "derivative");
  }
  rehearsal_->go_on();
  findings_.after_reverse = findings_.objective;
  if (rehearsal_->restore_turn()) findings_.after_reverse = agree_on(objective(), "objective");
  if (std::isfinite(findings_.objective)) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              "check_gradient: the objective is " + std::to_string(findings_.objective) +
                  ", not a finite number; look at the state after each step");
}

// By perturbations that change little more than the last bits.
void GradientCheck::measure_noise() {
  std::array<double, kNoiseValues> values = {findings_.objective};
  const double step = 64 * findings_.unit * gradient_.epsilon / kEpsilon;
  for (int i = 1; i < kNoiseValues; ++i) values[size(i)] = objective_at(1, step * i);
  const double measured = noise_of(values);
  const double least = unit_round_off(ANADROME_FLOAT64) * std::abs(findings_.objective);
  findings_.noise = std::isfinite(measured) ? std::max(measured, least) : least;
}

void GradientCheck::run_series(std::int64_t seed) {
  TaylorSeries& series = findings_.series[size(seed - 1)];
  const TaylorRemainders remainders(findings_.objective, findings_.noise, findings_.unit);
  double epsilon = gradient_.epsilon;
  while (!remainders.is_enough(series)) {
    const double objective = objective_at(seed, epsilon);
    series.epsilon.push_back(epsilon);
    series.objective.push_back(objective);
    epsilon /= kSmaller;
  }
}

void GradientCheck::test_products() {
  if (pairs_.empty()) return;
  std::optional<DotProducts> products;
  std::vector<std::int64_t> tested;
  rehearsal_->attempt([&] {
    products.emplace(
        *rehearsal_, pairs_, gradient_.mask == nullptr ? std::function<void()>() : [this] {
          rehearsal_->note("mask", gradient_.mask, gradient_.context);
        });
    tested = spread(gradient_.product_steps, steps_);
    for (const FieldPair& pair : pairs_) {
      findings_.pairs +=
          (findings_.pairs.empty() ? "" : ", ") + pair.state.name + " with " + pair.adjoint.name;
    }
    findings_.left_out = names_of(rehearsal_->adjoint_fields(), pairs_, "ADJOINT");
    const std::string held = names_of(rehearsal_->state(), pairs_, "STATE");
    if (!held.empty()) {
      findings_.left_out += (findings_.left_out.empty() ? "" : "; ") + held + " (not varied)";
    }
  });
  rehearsal_->agree();
  rehearsal_->restore_entry();
  rehearsal_->start();
  findings_.products = products->test(tested, steps_);
}

// ---- all of it ----

void GradientCheck::put_back() {
  rehearsal_->restore_entry();
  rehearsal_->note("perturb", gradient_.perturb, gradient_.context, 1, 0);
  rehearsal_->restore_entry();
}

anadrome_gradient_check GradientCheck::carry_out() {
  try {
    sweep();
    measure_noise();
    for (std::int64_t seed = 1; seed <= gradient_.seeds; ++seed) run_series(seed);
    findings_.repeated = objective_at(1, 0);
    test_products();
  } catch (...) {  // on every rank
    put_back();
    throw;
  }
  put_back();
  rehearsal_->agree();
  anadrome_gradient_check check = {};
  rehearsal_->attempt([&] {
    check = result_of(findings_);
    report(check);
  });
  rehearsal_->agree();
  return check;
}

void GradientCheck::report(const anadrome_gradient_check& check) {
  if (report_.empty() || run_.ranks().rank() != 0) return;
  const std::string text = report_of(findings_, check);
  if (report_ == "-") {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  const store::File file = store::File::open(report_, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  file.write_all(text.data(), text.size(), 0);
}

}  // namespace

anadrome_gradient_check check_gradient(Run& run, std::int64_t steps, const anadrome_model* model,
                                       const anadrome_gradient* gradient, const Failure& failure) {
  if (run.under_way()) {  // as every rank knows
    throw Error(ANADROME_ERR_ORDER,
                "check_gradient: a sweep is under way; call it in place of solve");
  }
  struct Leave {  // what failed here is no failure of the rewind that may follow
    ~Leave() { run.held().clear(); }
    Run& run;
  } leave{run};
  GradientCheck check(run, steps);
  check.take(model, gradient, failure);
  return check.carry_out();
}

}  // namespace anadrome::engine
