#include "synthetic_sweep.h"

#include <algorithm>
#include <map>
#include <random>

#include "schedule/sequence.h"

namespace anadrome::engine {
namespace {

class Sweep {
 public:
  explicit Sweep(const SyntheticCosts& costs) : costs_(costs), random_(costs.seed) {}

  std::vector<TraceEvent> run() {
    schedule::Sequence sequence({.steps = costs_.steps,
                                 .slots = costs_.slots,
                                 .anchored = costs_.interval > 0,
                                 .interval = costs_.interval});
    for (;;) {
      const schedule::Action action = sequence.next();
      using schedule::Kind;
      switch (action.kind) {
        case Kind::kAdvance:
          solve(action.again ? Activity::kRecompute : Activity::kAdvance, action,
                costs_.advance * static_cast<double>(action.last - action.first));
          break;
        case Kind::kKeep:
        case Kind::kRestore:
          solve(Activity::kCopy, action, costs_.copy);
          break;
        case Kind::kAnchor:
          if (costs_.interval == 0) {
            solve(Activity::kCopy, action, costs_.copy);
            break;
          }
          wait_until(oldest_in_flight(), action.first);
          solve(Activity::kCopy, action, costs_.copy);
          agree(action.first);
          if (!sequence.ends_in_ram()) transfer(Activity::kWrite, action.first, costs_.write);
          written_.push_back(action.first);
          break;
        case Kind::kRestoreAnchor:
          restore(action);
          break;
        case Kind::kTurn:
          solve(Activity::kTurn, action, 3 * costs_.advance);
          if (costs_.interval > 0) prefetch(static_cast<std::int64_t>(written_.size()) - 2);
          break;
        case Kind::kAdjoint:
          solve(Activity::kAdjoint, {action.kind, false, false, action.first, action.first + 1},
                costs_.adjoint);
          break;
        case Kind::kDone:
          return events_;
        case Kind::kDrop:
        case Kind::kDropAnchor:
        case Kind::kStart:
        case Kind::kWriteAnchor:
        case Kind::kReadAnchor:
        case Kind::kKeepTape:
        case Kind::kRestoreTape:
        case Kind::kDropTape:
        case Kind::kDecide:
          break;
      }
    }
  }

 private:
  double about(double seconds) {
    const double fraction = static_cast<double>(random_() >> 11) * 0x1p-53;
    return seconds * (1 + costs_.jitter * (2 * fraction - 1));
  }
  void solve(Activity activity, const schedule::Action& action, double seconds) {
    const double start = now_;
    now_ += about(seconds);
    events_.push_back({start, now_, action.first, action.last, activity});
    now_ += 1e-6;
  }
  void agree(std::int64_t step) {
    const double start = now_;
    now_ += about(costs_.agree);
    events_.push_back({start, now_, step, step, Activity::kAgree});
  }
  void wait_until(double time, std::int64_t step) {
    if (time <= now_) return;
    events_.push_back({now_, time, step, step, Activity::kWait});
    now_ = time;
  }
  double transfer(Activity activity, std::int64_t step, double seconds) {
    const double start = std::max(now_, io_free_);
    io_free_ = start + about(seconds);
    events_.push_back({start, io_free_, step, step, activity});
    ends_.push_back(io_free_);
    return io_free_;
  }
  double oldest_in_flight() const {
    const auto most = static_cast<std::size_t>(costs_.blocks_in_flight);
    return ends_.size() < most ? 0 : ends_[ends_.size() - most];
  }
  void prefetch(std::int64_t anchor) {
    for (int i = 0; i < costs_.blocks_in_flight && anchor - i >= 0; ++i) {
      const std::int64_t number = anchor - i;
      if (read_.contains(number)) continue;
      read_[number] =
          transfer(Activity::kRead, written_[static_cast<std::size_t>(number)], costs_.read);
    }
  }
  void restore(const schedule::Action& action) {
    if (costs_.interval > 0 && action.slot + 1 < static_cast<std::int64_t>(written_.size())) {
      prefetch(action.slot);
      wait_until(read_[action.slot], action.first);
      agree(action.first);
    }
    solve(Activity::kCopy, action, costs_.copy);
    if (costs_.interval > 0) prefetch(action.slot - 1);
  }

  const SyntheticCosts costs_;
  std::mt19937_64 random_;
  std::vector<TraceEvent> events_;
  std::vector<std::int64_t> written_;
  std::vector<double> ends_;
  std::map<std::int64_t, double> read_;
  double now_ = 0, io_free_ = 0;
};

}  // namespace

std::vector<TraceEvent> synthetic_sweep(const SyntheticCosts& costs) { return Sweep(costs).run(); }

}  // namespace anadrome::engine
