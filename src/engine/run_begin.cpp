// Run, first half: from options and fields to a sweep that can start. Everything here is
// collective: what one rank meets alone (no memory, say) is held until the next agreement, and
// until then this rank takes part in whatever the others do.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "engine/run.h"
#include "engine/watch.h"

namespace anadrome::engine {
namespace {

// Far below what the planners' numbers hold.
constexpr std::int64_t kMostBranchSteps = std::int64_t{1} << 30;

Failure fault_of(std::span<const std::int64_t> steps) {
  for (std::size_t branch = 0; branch < steps.size(); ++branch) {
    if (steps[branch] >= 1 && steps[branch] <= kMostBranchSteps) continue;
    return {ANADROME_ERR_ARGUMENT, "begin_branches: branch " + std::to_string(branch) + " has " +
                                       std::to_string(steps[branch]) +
                                       " steps; give 1 to 2^30 for each"};
  }
  return {};
}

std::uint64_t hash_of_branches(const std::vector<std::int64_t>& steps) {
  constexpr std::uint64_t kPrime = 1099511628211u;
  std::uint64_t hash = 0;
  for (const std::int64_t length : steps) {
    hash = (hash ^ static_cast<std::uint64_t>(length)) * kPrime;
  }
  return hash;
}

}  // namespace

void Run::begin(std::int64_t steps, const Failure& earlier) {
  SweepPlan plan;
  plan.steps = steps;
  begin_sweep(std::move(plan), earlier);
}

void Run::begin_branches(std::span<const std::int64_t> steps, const Failure& earlier) {
  SweepPlan plan;
  Failure failure = earlier ? earlier : fault_of(steps);
  if (!failure) {
    failure = failure_from([&] { plan.join.steps.assign(steps.begin(), steps.end()); });
  }
  plan.steps = std::accumulate(plan.join.steps.begin(), plan.join.steps.end(), std::int64_t{0});
  begin_sweep(std::move(plan), failure);
}

void Run::begin_sweep(SweepPlan plan, const Failure& earlier) {
  if (common_.agreement.broken()) {
    throw Error(ANADROME_ERR_PEER,
                "the ranks of this run were in different calls; only close is left");
  }
  abandon();
  try {
    set_up(plan, earlier);
  } catch (...) {
    abandon();  // what this rank has and another one may not have
    planning_.forget_plans();
    throw;
  }
}

void Run::abandon() {
  warnings_.progress().finish();
  resumption_.abandon();  // this and the keeper's tier wait for their transfers
  keeper_.abandon();
  common_.plan.sweep.reset();
  common_.sweep.phase = ANADROME_PHASE_IDLE;
}

void Run::agree_on_begin() {
  common_.agreement.agree({.call = Call::kBegin, .failure = common_.held.failure()});
}

// What is wrong with this rank's fields and arguments.
Failure Run::fault_of_begin(std::int64_t steps) const {
  if (steps < 0 && steps != schedule::kUnknown) {
    return {ANADROME_ERR_ARGUMENT, "begin: " + std::to_string(steps) +
                                       " steps; give 0 or more, or ANADROME_STEPS_UNKNOWN"};
  }
  if (steps >= schedule::kMostSteps) return {ANADROME_ERR_ARGUMENT, "begin: more than 2^62 steps"};
  if (common_.fields.too_many_bytes()) {
    return {ANADROME_ERR_ARGUMENT, "begin: a state or a tape of more than 2^56 bytes"};
  }
  if (common_.fields.state().empty()) {
    return {ANADROME_ERR_ORDER, "begin: register the state with anadrome_add_field first"};
  }
  return {};
}

// All ranks must have said the same; if not, name what differs.
void Run::compare_ranks(const SweepPlan& plan) {
  std::vector<std::string> names = {};
  std::vector<std::int64_t> both;  // hashes, then their complements
  common_.held.attempt([&] {
    const auto add = [&](std::string name, std::int64_t value) {
      names.push_back(std::move(name));
      both.push_back(value);
    };
    add("the list of fields (names, roles, types)",
        static_cast<std::int64_t>(hash_of(common_.fields.table())));
    for (const auto& [key, value] : common_.options.shared_values()) {
      add("option " + key, static_cast<std::int64_t>(hash_of(value)));
    }
    add("the number of steps given to set_step_costs", common_.measured.step_costs().steps_given());
    add("whether set_step_costs was given sizes", common_.measured.state_bytes().steps_given());
    add("the list of branches", static_cast<std::int64_t>(hash_of_branches(plan.join.steps)));
    for (std::size_t i = 0; i < names.size(); ++i) both.push_back(~both[i]);
  });
  common_.agreement.agree({.call = Call::kBegin,
                           .failure = common_.held.failure(),
                           .equal = plan.steps,
                           .equal_name = "the number of steps"});
  common_.agreement.ranks().largest(both);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (both[i] != ~both[i + names.size()]) {
      throw Error(ANADROME_ERR_ARGUMENT, names[i] + " differs between ranks");
    }
  }
}

void Run::set_up(SweepPlan& plan, const Failure& earlier) {
  Agreement& agreement = common_.agreement;
  Held& held = common_.held;
  SweepState& sweep = common_.sweep;
  const std::int64_t last_number = sweep.number;
  held.clear();
  stop_.store(false);
  note(Doing::kBegin);
  sweep = {};
  sweep.number = last_number;
  sweep.seconds_agreeing_before = agreement.seconds();
  sweep.agreements_before = agreement.count();
  sweep.begin_time = now_seconds();
  held.attempt([&] {
    common_.options = requested_;
    name_the_late(agreement, common_.options);
    common_.fields.begin_sweep();
  });
  held.hold(earlier ? earlier : bad_environment_);
  held.attempt([&] { held.hold(fault_of_begin(plan.steps)); });
  compare_ranks(plan);

  const bool disk_changes = storage_.changes();
  plan.budget = common_.options.memory;
  plan.record = common_.fields.has_tape();
  choice_.choose(plan, sweep, common_.plan, !disk_changes);
  common_.plan = std::move(plan);
  held.attempt([&] { planning_.require_fit(common_.plan); });
  agree_on_begin();
  sweep.number = last_number == 0 ? common_.options.sweep : last_number + 1;
  resumption_.look();
  planning_.plan_memory(common_.plan, resumption_.shape());
  keeper_.make_memory();
  agree_on_begin();
  prepare_disk(disk_changes);
  held.attempt([&] {
    planning_.make_sweep(common_.plan, sweep.no_more_anchors);
    common_.recorder.prepare(common_.options.trace != "off");
    keeper_.live()->make_room_for_step();  // x_0
  });
  agree_on_begin();
  if (common_.plan.plays_list() && common_.plan.schedule->needs.each_step.costs) {
    agreement.agree({.call = Call::kBegin,
                     .failure = {},
                     .equal = common_.plan.sweep->fingerprint(),
                     .equal_name = common_.plan.sweep->plan_name()});
  }
  start_sweep();
}

// The directory, its lock and, if states go to disk, the files; or no directory.
void Run::prepare_disk(bool disk_changes) {
  const bool transports = common_.plan.disk_use() != DiskUse::kNone;
  if (transports || common_.options.watchdog > 0) {
    const bool another = storage_.prepare(common_.plan.memory, transports, resumption_.recovery());
    if (another) choice_.forget();
  } else if (disk_changes && storage_.has_directory()) {
    storage_.give_up();  // nobody looks for ranks any more
  }
  note(Doing::kBegin);
  if (!transports) return;
  common_.held.attempt([&] { keeper_.make_disk_tier(); });
  agree_on_begin();
  keeper_.make_first_files();
  resumption_.begin_journal();
}

void Run::start_sweep() {
  SweepState& sweep = common_.sweep;
  warnings_.start_progress();
  sweep.handed_out = now_seconds();
  common_.recorder.start(sweep.handed_out);
  if (resumption_.recovery()) return resumption_.go_on();
  sweep.then_is_written = keeper_.live()->exchanged() && !common_.plan.has_branches();
  constexpr std::int64_t kEarly = 25;  // 4 % of the steps
  const std::int64_t steps = common_.plan.steps;
  if (steps > 0) sweep.prediction.due_at = ceil_divide(steps, kEarly);
  sweep.phase = ANADROME_PHASE_FORWARD;
}

}  // namespace anadrome::engine
