// Run, the part of schedule=auto: every state if they fit, else what the times of the sweep before
// promise to be fastest.
#include <array>
#include <cmath>
#include <limits>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/run.h"
#include "schedule/sweep_forecast.h"

namespace anadrome::engine {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

// Without times to go by. Deterministic: all ranks have the same options and slots.
ScheduleName Run::choose_schedule(std::int64_t steps) {
  chosen_.clear();
  expected_seconds_ = 0;
  if (options_.schedule != ScheduleName::kAuto) return options_.schedule;
  if (has_branches()) {
    attempt([&] { chosen_ = std::to_string(join_.steps.size()) + " branches"; });
    return ScheduleName::kJoin;
  }
  if (steps == schedule::kUnknown || writes_all_anchors()) {
    attempt([&] {
      chosen_ = options_.keep     ? "keep=on wants files"
                : options_.resume ? "resume=on wants files"
                                  : "the number of steps is not known";
    });
    return ScheduleName::kAsync;
  }
  const MemoryPlan plan =
      plan_memory(agreement_, state_fields_, options_.memory, DiskUse::kNone, steps);
  const bool fit = plan.checkpoint_slots >= steps;
  attempt([&] {
    chosen_ = std::to_string(plan.checkpoint_slots) + " of " + std::to_string(steps) +
              (fit ? " states fit: all of them" : " states fit");
  });
  if (fit) return ScheduleName::kStoreAll;
  return may_weigh(steps) ? weigh_schedules(steps) : ScheduleName::kAsync;
}

// Is there a choice, and is the sweep worth a thought? What several states in a block are good for,
// the other schedules cannot use.
bool Run::may_weigh(std::int64_t steps) const {
  constexpr std::int64_t kMostSteps = 100'000;
  constexpr double kWorthPlanning = 0.02;  // seconds: planning is to take a few percent
  const bool free = options_.interval == 0 && !options_.greedy && options_.anchors < 0;
  return measured_before_ && !disk_changes_ && transport_ != nullptr && free && !has_tape() &&
         !states_vary() && alone_in_block() && steps > 1 && steps <= kMostSteps &&
         static_cast<double>(steps) * (agreed_[0] + agreed_[1]) >= kWorthPlanning;
}

// Are these the times that were reckoned with? Planning takes the pool's memory, which is slow to
// touch again.
bool Run::weighed_with(std::int64_t steps, const schedule::StepCosts& costs) const {
  constexpr double kSame = 0.1;
  const auto same = [](double a, double b) { return std::abs(a - b) <= kSame * b; };
  return weighed_steps_ == steps && same(costs.forward, weighed_costs_.forward) &&
         same(costs.adjoint, weighed_costs_.adjoint) && same(costs.write, weighed_costs_.write) &&
         same(costs.read, weighed_costs_.read);
}

// Every rank reckons by itself; where one cannot, nobody takes the schedule. What a schedule took
// before corrects what is expected of it.
ScheduleName Run::weigh_schedules(std::int64_t steps) {
  const std::array<ScheduleName, kWeighed> names = {
      ScheduleName::kAsync, ScheduleName::kOverlapped,
      options_.disk < 0 ? ScheduleName::kDiskRevolve : ScheduleName::kHRevolve};
  std::array<double, kWeighed>& seconds = weighed_seconds_;
  const schedule::StepCosts costs = agreed_costs();
  if (!weighed_with(steps, costs)) {
    pool_ = {};  // tables in its place
    for (std::size_t i = 0; i < kWeighed; ++i) {
      schedule_ = names[i];
      plan_blocks(steps);
      seconds[i] = kNever;
      const bool fits = memory_plan_.blocks > 0;
      if (fits) (void)failure_from([&] { seconds[i] = forecast(steps); });
    }
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(kWeighed), MPI_DOUBLE, MPI_MAX,
                  agreement_.comm());
    if (weighed_steps_ != steps) {
      taken_over_expected_.fill(1);
      weighed_ = 0;
    }
    weighed_steps_ = steps;
    weighed_costs_ = costs;
  }
  // The simplest one, and the one that was taken last, unless another gains something.
  constexpr double kWorthwhile = 0.96;
  const auto corrected = [&](std::size_t i) { return seconds[i] * taken_over_expected_[i]; };
  std::size_t best = weighed_;
  for (std::size_t i = 0; i < kWeighed; ++i) {
    if (corrected(i) < kWorthwhile * corrected(best)) best = i;
  }
  weighed_ = best;
  expected_seconds_ = seconds[best];
  attempt([&] {
    chosen_ += "; measured times promise ";
    const char* between = "";
    for (std::size_t i = 0; i < kWeighed; ++i) {
      if (seconds[i] == kNever) continue;
      chosen_ += between;
      chosen_ += format_seconds(corrected(i));
      chosen_ += std::string(" with ") + to_string(names[i]);
      between = ", ";
    }
  });
  return names[best];
}

// Seconds of a sweep with schedule_, in its memory.
double Run::forecast(std::int64_t steps) const {
  const schedule::StepCosts costs = agreed_costs();
  const double copies = 2 * static_cast<double>(steps) * copy_.seconds();
  if (schedule_ == ScheduleName::kAsync) {
    const schedule::SharedMemory memory = shared_memory();
    const std::int64_t most = most_blocks();
    schedule::AsyncPlan plan = schedule::best_plan(
        costs, memory, most < steps ? ceil_divide(steps, std::max<std::int64_t>(most - 1, 1)) : 1,
        steps);
    const schedule::AsyncPlan in_ram = schedule::plan_in_ram(costs, memory, steps, false);
    if (in_ram.seconds_per_step < plan.seconds_per_step) plan = in_ram;
    return copies + schedule::seconds_of_async(costs, memory, plan, steps, most);
  }
  if (schedule_ == ScheduleName::kOverlapped) {
    if (options_.disk >= 0) return kNever;
    const schedule::OverlappedPlan plan = schedule::plan_overlapped(
        steps + 1, memory_plan_.checkpoint_slots, overlap_times(), schedule::OverlapSearch::kQuick);
    return copies + schedule::seconds_of_overlapped(costs, plan);
  }
  schedule::NestedOptions options = two_tier_options(steps);
  constexpr std::int64_t kMostEntries = std::int64_t{1} << 18;
  if (options_.disk >= 0 && options.disk_slots > kMostEntries / (steps + 1)) return kNever;
  schedule::TwoTierMemory memory;
  memory.units = options.units;
  memory.disk_slots = options.disk_slots;
  memory.buffers = memory_plan_.blocks - memory_plan_.live_blocks;
  memory.overlaps = transport_->overlaps();
  memory.reads_ahead = memory_plan_.prefetch_depth > 0;
  return copies +
         schedule::seconds_of_two_tier(costs, memory, steps + 1, *two_tier_planner(options))
             .value_or(kNever);
}

// After DONE: how good the expectation was. The slowest rank counts.
void Run::note_expectation() {
  if (expected_seconds_ <= 0) return;
  double seconds = done_time_ - begin_time_;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, agreement_.comm());
  constexpr double kNewest = 0.5;
  double& factor = taken_over_expected_[weighed_];
  factor += kNewest * (seconds / expected_seconds_ - factor);
  expected_seconds_ = 0;  // a sweep after a rewind is another matter
}

}  // namespace anadrome::engine
