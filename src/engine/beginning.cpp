// SPDX-License-Identifier: BSD-2-Clause
#include "engine/beginning.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/index.h"
#include "engine/disk/watch.h"
#include "engine/report/report.h"

namespace anadrome::engine {
namespace {

// Of rank 0, whose rank has `here`. Collective.
std::string said_there(Ranks& ranks, const std::string& here) {
  auto bytes = std::ssize(here);
  ranks.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), 0);
  std::string there;
  const Failure failure = failure_from([&] {
    there = here;
    there.resize(size(bytes));
  });
  std::int64_t lacks = failure ? 1 : 0;
  ranks.largest({&lacks, 1});
  if (lacks > 0) throw Error(ANADROME_ERR_MEMORY, "no memory");
  ranks.broadcast(std::as_writable_bytes(std::span(there)), 0);
  return there;
}

// Collective.
Failure other_value(Ranks& ranks, const std::string& name, const std::string& here) {
  const std::string there = said_there(ranks, here);
  if (there == here) return {};
  return {ANADROME_ERR_ARGUMENT,
          name + " differs between ranks: it is " + here + " here, and " + there + " on rank 0"};
}

// Where this rank's list leaves that of rank 0. Collective.
Failure other_fields(Ranks& ranks, const std::string& here) {
  const std::string there = said_there(ranks, here);
  if (there == here) return {};
  std::istringstream lines_here(here), lines_there(there);
  std::string field_here, field_there;
  int number = -1;
  while (field_here == field_there) {
    ++number;
    std::getline(lines_here, field_here);
    std::getline(lines_there, field_there);
  }
  const auto named = [](const std::string& field) { return field.empty() ? "missing" : field; };
  return {ANADROME_ERR_ARGUMENT, "the list of fields differs between ranks: field " +
                                     std::to_string(number) + " is " + named(field_here) +
                                     " here, and " + named(field_there) + " on rank 0"};
}

}  // namespace

void Beginning::agree() {
  context_.peers.agreement.agree({.call = Call::kBegin, .failure = context_.peers.held.failure()});
}

// The fault in this rank's fields and arguments, if there is one.
Failure Beginning::fault(std::int64_t steps) const {
  if (steps < 0 && steps != schedule::kUnknown) {
    return {ANADROME_ERR_ARGUMENT, "begin: " + std::to_string(steps) +
                                       " steps; give 0 or more, or ANADROME_STEPS_UNKNOWN"};
  }
  if (steps >= schedule::kMostSteps) return {ANADROME_ERR_ARGUMENT, "begin: more than 2^62 steps"};
  if (context_.asked.fields.too_many_bytes()) {
    return {ANADROME_ERR_ARGUMENT, "begin: a state or a tape of more than 2^56 bytes"};
  }
  if (context_.asked.fields.state().empty()) {
    return {ANADROME_ERR_ORDER, "begin: no state is registered; register its fields first"};
  }
  return context_.asked.fields.overlap();
}

// All ranks must have said the same; if not, name what differs.
void Beginning::compare_ranks(std::int64_t steps, const Options& options) {
  std::vector<std::string> names = {}, values = {};
  std::vector<std::int64_t> both;  // hashes, then their complements
  context_.peers.held.attempt([&] {
    const auto add = [&](std::string name, std::string value) {
      names.push_back(std::move(name));
      both.push_back(static_cast<std::int64_t>(hash_of(value)));
      values.push_back(std::move(value));
    };
    add("the list of fields", context_.asked.fields.table());
    for (const auto& [key, value] : options.shared_values()) {
      add("option " + key, value);
    }
    add("the number of values of option directory", context_.asked.options.has_fast() ? "2" : "1");
    add("whether the model has undo", context_.play.sweep.undone.by_steps ? "no" : "yes");
    for (std::size_t i = 0; i < names.size(); ++i) both.push_back(~both[i]);
  });
  const SweepState::Undone& undone = context_.play.sweep.undone;
  context_.peers.agreement.agree({.call = Call::kBegin,
                                  .failure = context_.peers.held.failure(),
                                  .equal = undone.per_state > 1 ? undone.steps : steps,
                                  .equal_name = "the number of steps"});
  const std::int64_t other = first_that_differs(context_.peers.agreement.ranks(), both);
  if (other < 0) return;
  Failure differs;
  context_.peers.held.attempt([&] {
    Ranks& ranks = context_.peers.agreement.ranks();
    const auto which = at(other);
    differs = other == 0 ? other_fields(ranks, values[which])
                         : other_value(ranks, names[which], values[which]);
  });
  context_.peers.agreement.agree({.call = Call::kBegin, .failure = differs});
  throw Error(ANADROME_ERR_ARGUMENT, names[at(other)] + " differs between ranks");
}

void Beginning::begin_state(const Options& options) {
  SweepState& sweep = context_.play.sweep;
  const std::int64_t last_number = sweep.number;
  context_.peers.held.clear();
  storage_.note(Doing::kBegin);
  sweep = {};
  sweep.number = sweep.last_number = last_number;
  sweep.before.seconds_agreeing = context_.peers.agreement.seconds();
  sweep.before.agreements = context_.peers.agreement.count();
  sweep.times.begin = now_seconds();
  context_.peers.held.attempt([&] {
    context_.asked.options = options;
    name_the_late(context_.peers.agreement, context_.asked.options);
    if (context_.peers.agreement.rank() == 0) require_files(options);
    undoing_.arrange();
    context_.asked.fields.devices().set_patience(options.watchdog);
  });
}

void Beginning::begin(std::int64_t steps, const Options& options, const Failure& earlier) {
  Held& held = context_.peers.held;
  SweepState& sweep = context_.play.sweep;
  if (const Failure& refusal = resumption_.refusal()) {  // as all ranks know
    throw Error(refusal.status, refusal.message);
  }
  begin_state(options);
  if (Watch* const watch = storage_.watch()) held.hold(watch->look_at_lock());
  held.hold(earlier);
  held.attempt([&] { held.hold(fault(steps)); });
  compare_ranks(steps, options);

  if (resumption_.recovery()) leave_again();
  const bool disk_changes = storage_.changes();
  SweepPlan plan;
  plan.steps = steps;
  plan.budget = context_.asked.options.memory;
  plan.record = context_.asked.fields.has(ANADROME_ROLE_TAPE);
  choice_.choose(plan, sweep);
  context_.play.plan = std::move(plan);
  held.attempt([&] { planning_.require_fit(context_.play.plan); });
  agree();
  sweep.number = sweep.number == 0 ? context_.asked.options.sweep : sweep.number + 1;
  if (uses_directory()) {
    storage_.wait_for_lock();
    sweep.times.begin = now_seconds();
  }
  resumption_.look();
  planning_.plan_memory(context_.play.plan, resumption_.shape());
  keeper_.make_memory();
  agree();
  prepare_disk(disk_changes);
  make_sweep();
  start();
}

// The begin before took a run over, and no action followed: that run is left, and looked for once
// more.
void Beginning::leave_again() {
  context_.play.sweep.last_number = resumption_.recovery()->journal.header.sweep - 1;
  context_.play.sweep.number = context_.play.sweep.last_number;
  context_.peers.held.attempt([&] { storage_.leave(); });
  agree();
  storage_.close_transport();
  storage_.forget_directory();
}

bool Beginning::uses_directory() const {
  return context_.play.plan.disk_use() != DiskUse::kNone || context_.asked.options.watchdog > 0;
}

// The directory, its lock and, if states go to disk, the files; or no directory.
void Beginning::prepare_disk(bool disk_changes) {
  const bool transports = context_.play.plan.disk_use() != DiskUse::kNone;
  if (uses_directory()) {
    storage_.prepare(context_.play.plan.memory, transports, resumption_.recovery());
  } else if (disk_changes && storage_.has_directory()) {
    storage_.give_up();  // nobody looks for ranks any more
  }
  storage_.note(Doing::kBegin);
  if (!transports) return;
  context_.peers.held.attempt([&] { keeper_.make_disk_tier(); });
  agree();
  resumption_.begin_journal();  // first: an earlier one names files that may go now
  keeper_.make_first_files();
}

void Beginning::make_sweep() {
  SweepPlan& plan = context_.play.plan;
  context_.peers.held.attempt([&] {
    planning_.make_sweep(plan, context_.play.sweep.no_more_anchors);
    context_.notes.recorder.prepare(context_.asked.options.trace != "off");
    keeper_.live()->make_room_for_step();  // x_0
  });
  agree();
}

void Beginning::start() {
  SweepState& sweep = context_.play.sweep;
  context_.notes.warnings.start_progress();
  sweep.handed_out = now_seconds();
  context_.notes.recorder.start(sweep.handed_out);
  if (resumption_.recovery()) return resumption_.go_on();
  sweep.then_is_written = keeper_.live()->exchanged();
  if (context_.play.plan.steps > 0)
    sweep.prediction.due_at = prediction_after(context_.play.plan.steps, 0);
  sweep.phase = ANADROME_PHASE_FORWARD;
}

}  // namespace anadrome::engine
