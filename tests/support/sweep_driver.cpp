// SPDX-License-Identifier: BSD-2-Clause
#include "sweep_driver.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"

namespace anadrome::test {
namespace {

// Every state on disk is compressed, if somebody wants to see the same tests so.
const char* const codec = std::getenv("ANADROME_TEST_COMPRESS");

}  // namespace

bool compresses() { return codec != nullptr; }

RunHandle::RunHandle(MPI_Comm comm) {
  EXPECT_EQ(anadrome_open(comm, &run_), ANADROME_OK) << anadrome_last_error();
  set("directory", directory());
  if (codec != nullptr) set("compress", codec);
}

RunHandle::RunHandle(CoupledModel& model, const RunOptions& options, const RunOptions& more)
    : RunHandle(model.comm()) {
  EXPECT_EQ(model.add_fields(run_), ANADROME_OK) << anadrome_last_error();
  for (const RunOptions* some : {&options, &more})
    for (const auto& [key, value] : *some) set(key, value);
}

void RunHandle::set(const std::string& key, const std::string& value) {
  if (codec != nullptr && key == "transport" && value == "mpio") set("compress", "off");
  EXPECT_EQ(anadrome_set(run_, key.c_str(), value.c_str()), ANADROME_OK) << anadrome_last_error();
}

anadrome_stats RunHandle::statistics() const {
  anadrome_stats stats;
  stats.size = sizeof stats;
  EXPECT_EQ(anadrome_statistics(run_, &stats), ANADROME_OK) << anadrome_last_error();
  return stats;
}

void SweepDriver::expect(bool condition, const char* fact, const anadrome_action& action,
                         Outcome& outcome) {
  if (condition) return;
  outcome.exact = false;
  static constexpr std::array kNames = {"?",    "ADVANCE", "TURN", "ADJOINT",
                                        "DONE", "START",   "VISIT"};
  ADD_FAILURE() << "not so: " << fact << "; at " << kNames.at(static_cast<std::size_t>(action.kind))
                << " " << action.first << " .. " << action.last << ", record " << action.record
                << ", again " << action.again << ", of " << steps_ << " steps";
}

Outcome SweepDriver::begin(std::int64_t steps, bool unknown) {
  steps_ = steps;
  unknown_ = unknown;
  furthest_ = 0;
  in_pass_ = forward_ = turned_ = false;
  first_ = true;
  recorded_ = -1;
  model_.start();
  model_.scramble_tape();
  adjoint_ = model_.adjoint();
  to_adjoin_ = steps;
  Outcome outcome;
  outcome.status = anadrome_begin(run_, unknown ? ANADROME_STEPS_UNKNOWN : steps);
  if (outcome.status != ANADROME_OK) {
    outcome.message = anadrome_last_error();
    return outcome;
  }
  expect(model_.no_now(run_), "nothing is live before the first action", {}, outcome);
  expect(model_.spoil_then(run_) && model_.put_then(run_), "x_0 has a place", {}, outcome);
  return outcome;
}

Outcome SweepDriver::exact_sweep(std::int64_t steps, bool unknown) {
  Outcome outcome = sweep(steps, unknown);
  EXPECT_TRUE(outcome.done) << outcome.message;
  EXPECT_TRUE(outcome.exact) << outcome.message;
  return outcome;
}

Outcome SweepDriver::sweep(std::int64_t steps, bool unknown) {
  Outcome outcome = begin(steps, unknown);
  stop_at_ = nullptr;
  if (outcome.status == ANADROME_OK) loop(outcome);
  return outcome;
}

Outcome SweepDriver::begin_and_stop(std::int64_t steps, bool unknown,
                                    const std::function<bool(const anadrome_action&)>& stop_at) {
  Outcome outcome = begin(steps, unknown);
  stop_at_ = stop_at;
  if (outcome.status == ANADROME_OK) loop(outcome);
  return outcome;
}

Outcome SweepDriver::go_on(std::int64_t steps) {
  adopt(steps);
  furthest_ = expect_to_go_on(run_, model_, reference_, steps);
  to_adjoin_ = steps;
  adjoint_ = model_.adjoint();
  Outcome outcome;
  loop(outcome);
  return outcome;
}

Outcome SweepDriver::sweep_again() {
  in_pass_ = forward_ = false;
  return once_more([this] { return anadrome_rewind(run_); });
}

Outcome SweepDriver::pass(anadrome_direction direction) {
  in_pass_ = true;
  forward_ = direction == ANADROME_PASS_FORWARD;
  return once_more([this, direction] { return anadrome_pass(run_, direction); });
}

Outcome SweepDriver::once_more(const std::function<anadrome_status()>& begin_so) {
  first_ = false;
  turned_ = forward_;
  recorded_ = -1;
  to_visit_ = 0;
  to_adjoin_ = forward_ ? 0 : steps_;
  stop_at_ = nullptr;
  model_.scramble_state();
  model_.scramble_tape();
  Outcome outcome;
  outcome.status = begin_so();
  if (outcome.status == ANADROME_OK) {
    loop(outcome);
  } else {
    outcome.message = anadrome_last_error();
  }
  return outcome;
}

void SweepDriver::loop(Outcome& outcome) {
  anadrome_action action;
  while (!outcome.done && (outcome.status = anadrome_next(run_, &action)) == ANADROME_OK) {
    if (stop_at_ && stop_at_(action)) return;
    if (before_action) before_action(action);
    check_and_do(action, outcome);
  }
  if (outcome.status != ANADROME_OK) outcome.message = anadrome_last_error();
}

void SweepDriver::check_and_do(const anadrome_action& action, Outcome& outcome) {
  const auto check = [&](bool condition, const char* fact) {
    expect(condition, fact, action, outcome);
  };
  const bool tape = model_.has_tape();
  bool reserved_is_zero = action.reserved_int == 0;
  for (const std::int64_t word : action.reserved) reserved_is_zero = reserved_is_zero && word == 0;
  check(reserved_is_zero, "reserved members are zero");
  const bool undefined =
      (tape && (action.kind == ANADROME_ADJOINT || action.kind == ANADROME_DONE ||
                action.kind == ANADROME_VISIT)) ||
      (in_pass_ && action.kind == ANADROME_TURN) || (forward_ && action.kind == ANADROME_DONE);
  check(model_.take_now(run_) || undefined, "the live state has an address");
  check(model_.no_then(run_) || action.kind == ANADROME_ADVANCE,
        "only an ADVANCE has a place for the next state");
  const std::uint64_t sum = undefined ? 0 : model_.sum_of_now(run_);
  check(model_.adjoint() == adjoint_, "adjoint fields are left alone");
  check(recorded_ < 0 || action.kind == ANADROME_ADJOINT || action.kind == ANADROME_VISIT ||
            model_.tape() == reference_.tape(recorded_),
        "tape fields are left alone");
  if (action.kind != ANADROME_ADJOINT) checked_ = -1;
  switch (action.kind) {
    case ANADROME_ADVANCE:
      advance(action, outcome);
      break;
    case ANADROME_TURN:
      check(!turned_, "TURN comes once");
      check(action.first == steps_ && action.last == steps_, "TURN names n");
      check(furthest_ == steps_, "every step was run before TURN");
      check(in_pass_ || holds(steps_), "the arrays hold x_n at TURN");
      check((action.again != 0) == in_pass_, "`again` says that TURN is a pass's");
      turned_ = true;
      model_.scramble_state();
      break;
    case ANADROME_ADJOINT:
      check(turned_, "TURN comes before the first ADJOINT");
      check(action.first == to_adjoin_ - 1, "adjoint steps come one by one, the last first");
      check(action.last == action.first + 1, "ADJOINT is one step");
      if (tape) {
        check(model_.tape() == reference_.tape(action.first), "the tape of the step is there");
      } else {
        check(holds(action.first), "the arrays hold x_k at ADJOINT");
      }
      if (std::exchange(checked_, -1) == action.first) --outcome.advances;
      to_adjoin_ = action.first;
      model_.touch_adjoint(action.first);
      adjoint_ = model_.adjoint();
      model_.scramble_state();
      model_.scramble_tape();
      recorded_ = -1;
      break;
    case ANADROME_VISIT:
      check(forward_ && action.first == to_visit_, "visits come one by one");
      check(action.last == action.first + 1, "VISIT is one step");
      if (tape) {
        check(model_.tape() == reference_.tape(action.first), "the tape of the step is there");
      } else {
        check(holds(action.first), "the arrays hold x_k at VISIT");
      }
      ++to_visit_;
      recorded_ = -1;
      break;
    case ANADROME_DONE:
      check(!forward_ || to_visit_ == steps_, "DONE comes after every visit");
      check(turned_ && to_adjoin_ == 0, "DONE comes after every adjoint step");
      check(action.first == 0 && action.last == 0, "DONE names 0");
      check(tape || forward_ || holds(0), "the arrays hold x_0 at DONE");
      outcome.done = true;
      break;
    default:
      check(false, "the kind of an action is known");
  }
  check(undefined || model_.sum_of_now(run_) == sum, "the live state is left alone");
}

void SweepDriver::advance(const anadrome_action& action, Outcome& outcome) {
  const auto check = [&](bool condition, const char* fact) {
    expect(condition, fact, action, outcome);
  };
  check(action.first < action.last, "an ADVANCE has steps");
  check(action.first <= steps_, "an ADVANCE begins within the sweep");
  check(model_.exchanged == kNoField || action.last == action.first + 1,
        "exchanged fields take one step at a time");
  check(action.again != 0 ? action.last <= furthest_ : action.first == furthest_,
        "`again` says which steps were run before");
  check(action.record == 0 || model_.has_tape(), "nothing is recorded without tape fields");
  check(action.first <= steps_ && holds(action.first), "the arrays hold x_first at ADVANCE");
  const bool open_end = unknown_ && !turned_ && action.again == 0;
  if (!open_end) check(action.last <= steps_, "an ADVANCE ends within the sweep");
  check(model_.spoil_then(run_), "the next state has a place");
  const std::int64_t last = action.last < steps_ ? action.last : steps_;
  for (std::int64_t k = action.first; k < last; ++k) {
    if (action.record != 0 && k == action.last - 1) {
      model_.record(k);
      recorded_ = k;
    } else {
      model_.step(k);
    }
  }
  if (action.first < last) check(model_.put_then(run_), "the next state has a place of its own");
  // No parts of the sweep: steps before TURN, and one before its own adjoint step.
  const bool preflight = action.again != 0 && !turned_ && first_;
  if (!preflight) outcome.advances += last - action.first;
  const bool one_again = action.again != 0 && action.record == 0 && last == action.first + 1;
  if (turned_ && one_again) checked_ = action.first;
  if (last > furthest_) furthest_ = last;
  // A sweep that ends with the advance may say so now or at the start of the next one.
  if (open_end && (action.last > steps_ || (action.last == steps_ && steps_ % 2 == 0))) {
    check(anadrome_finish_forward(run_, steps_) == ANADROME_OK, anadrome_last_error());
    check(action.first < steps_ || model_.no_then(run_), "no place for a step that was not taken");
  }
}

void expect_exact(const RunHandle& run, const Outcome& outcome, std::int64_t advances) {
  EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  const anadrome_stats stats = run.statistics();
  EXPECT_EQ(stats.forward_steps_taken, advances);
  EXPECT_EQ(stats.forward_steps_planned, advances);
  EXPECT_EQ(stats.forward_steps_remaining, 0);
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
}

std::int64_t expect_to_go_on(anadrome_run* run, CoupledModel& model, const Reference& reference,
                             std::int64_t steps) {
  model.scramble_state();
  EXPECT_EQ(anadrome_begin(run, steps), ANADROME_OK) << anadrome_last_error();
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  EXPECT_EQ(anadrome_resumed(run, &phase, &step), ANADROME_OK);
  EXPECT_EQ(phase, ANADROME_PHASE_FORWARD);
  EXPECT_EQ(model.state(), reference.state(step));
  return step;
}

bool same_on_all(MPI_Comm comm, std::int64_t value) {
  std::array<std::int64_t, 2> extremes = {value, -value};
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  return extremes[0] == -extremes[1];
}

std::int64_t least_memory(CoupledModel& model, const std::string& schedule) {
  RunHandle run(model.comm());
  run.set("schedule", schedule);
  run.set("memory", "1B");
  EXPECT_EQ(model.add_fields(run), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(run, 1), ANADROME_ERR_MEMORY);
  return number_after(anadrome_last_error(), "at least ");
}

}  // namespace anadrome::test
