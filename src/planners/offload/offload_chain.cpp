// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offload_chain.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class Machine {
 public:
  Machine(const OffloadChain& chain, const OffloadLists& lists, bool with_spans)
      : chain_(chain), lists_(lists), with_spans_(with_spans), states_(chain.adjoint.size()) {
    states_[0].resident = true;
    run_.most_units = used_ = chain_.state_units[0];
  }

  OffloadRun play() {
    if (used_ > chain_.fast_memory) return run_;
    event(OffloadEvent::What::kMade, 0);
    for (;;) {
      while (start_op() || start_write() || start_read()) {
      }
      now_ = std::min({op_end_, write_end_, read_end_});
      if (now_ == kNever) break;
      if (op_end_ == now_) end_op();
      if (write_end_ == now_) end_write();
      if (read_end_ == now_) end_read();
    }
    if (op_ == lists_.ops.size()) run_.makespan = solved_;
    return run_;
  }

 private:
  struct State {
    bool resident = false, incoming = false;
    bool written = false;  ///< a copy is in the slow memory
    bool leaves = false;   ///< as soon as the solver is not on it
    bool made = false, over = false;
  };

  bool computing() const { return op_end_ != kNever; }
  bool has_room(std::int64_t k) const {
    return used_ + chain_.state_units[at(k)] <= chain_.fast_memory;
  }
  void take(std::int64_t k) {
    used_ += chain_.state_units[at(k)];
    run_.most_units = std::max(run_.most_units, used_);
  }
  void release(std::int64_t k) {
    State& state = states_[at(k)];
    if (!state.resident) return;
    state.resident = state.leaves = false;
    used_ -= chain_.state_units[at(k)];
    event(OffloadEvent::What::kLeft, k);
  }
  void event(OffloadEvent::What what, std::int64_t state) {
    if (with_spans_) run_.events.push_back({what, state});
  }
  void span(Doing doing, std::int64_t start, std::int64_t first, std::int64_t last) {
    if (with_spans_) run_.spans.push_back({doing, start, now_, first, last});
  }

  bool start_op() {
    if (computing() || op_ == lists_.ops.size()) return false;
    const OffloadOp& op = lists_.ops[op_];
    State& source = states_[at(op.step)];
    if (!source.resident) return false;
    if (op.adjoint) {
      source.over = true;
      op_end_ = now_ + chain_.adjoint[at(op.step)];
    } else {
      if (!has_room(op.step + 1)) return false;
      take(op.step + 1);
      op_end_ = now_ + chain_.forward[at(op.step)];
    }
    op_start_ = now_;
    event(op.adjoint ? OffloadEvent::What::kAdjoint : OffloadEvent::What::kForward, op.step);
    return true;
  }

  void end_op() {
    const OffloadOp& op = lists_.ops[op_++];
    op_end_ = kNever;
    solved_ = now_;
    if (op.adjoint) {
      span(Doing::kAdjoint, op_start_, op.step + 1, op.step);
      event(OffloadEvent::What::kAdjoined, op.step);
      release(op.step);
    } else {
      State& made = states_[at(op.step + 1)];
      span(made.made ? Doing::kRecompute : Doing::kAdvance, op_start_, op.step, op.step + 1);
      made.made = made.resident = true;
      event(OffloadEvent::What::kMade, op.step + 1);
      if (op.drop) release(op.step);
    }
    for (const std::int64_t k : {op.step, leaves_later_}) let_go(k);
  }

  // A written state makes room now, or when the solver has passed it.
  void let_go(std::int64_t k) {
    if (k < 0 || !states_[at(k)].leaves) return;
    const bool solver_on_it = op_ < lists_.ops.size() && lists_.ops[op_].step == k;
    const bool next = computing() && op_ + 1 < lists_.ops.size() && lists_.ops[op_ + 1].step == k;
    leaves_later_ = k;
    if (solver_on_it || next) return;
    release(k);
    leaves_later_ = -1;
  }

  bool start_write() {
    if (write_end_ != kNever) return false;
    for (; write_ < lists_.writes.size(); ++write_) {
      const std::int64_t k = lists_.writes[write_].state;
      if (states_[at(k)].over) continue;  // too late to be of use
      if (!states_[at(k)].resident || op_ < at(lists_.writes[write_].gate)) return false;
      if (!chain_.full_duplex && read_end_ != kNever) return false;
      write_start_ = now_;
      event(OffloadEvent::What::kWrite, k);
      write_end_ = now_ + chain_.write[at(k)];
      return true;
    }
    return false;
  }

  void end_write() {
    const std::int64_t k = lists_.writes[write_++].state;
    write_end_ = kNever;
    span(Doing::kWrite, write_start_, k, k);
    states_[at(k)].written = true;
    states_[at(k)].leaves = states_[at(k)].resident;
    let_go(k);
  }

  bool start_read() {
    if (read_end_ != kNever) return false;
    if (!chain_.full_duplex && (write_ < lists_.writes.size() || write_end_ != kNever)) {
      return false;
    }
    for (; read_ < lists_.reads.size(); ++read_) {
      const OffloadTransfer& read = lists_.reads[read_];
      State& state = states_[at(read.state)];
      if (state.over || (state.resident && !state.leaves && state.made && !may_leave(read.state)))
        continue;
      if (state.resident || !state.written) return false;
      if (op_ < at(read.gate) || !has_room(read.state)) return false;
      take(read.state);
      state.incoming = true;
      read_start_ = now_;
      event(OffloadEvent::What::kRead, read.state);
      read_end_ = now_ + chain_.read[at(read.state)];
      return true;
    }
    return false;
  }

  // Is it still to be written?
  bool may_leave(std::int64_t k) const {
    for (std::size_t i = write_; i < lists_.writes.size(); ++i) {
      if (lists_.writes[i].state == k) return true;
      if (lists_.writes[i].state > k) return false;
    }
    return false;
  }

  void end_read() {
    const std::int64_t k = lists_.reads[read_++].state;
    read_end_ = kNever;
    span(Doing::kRead, read_start_, k, k);
    states_[at(k)].incoming = false;
    states_[at(k)].resident = true;
  }

  const OffloadChain& chain_;
  const OffloadLists& lists_;
  bool with_spans_;
  std::vector<State> states_;
  OffloadRun run_;
  std::size_t op_ = 0, write_ = 0, read_ = 0;  ///< the next ones, or those under way
  std::int64_t now_ = 0, solved_ = 0, used_ = 0, leaves_later_ = -1;
  std::int64_t op_start_ = 0, op_end_ = kNever, write_start_ = 0, write_end_ = kNever,
               read_start_ = 0, read_end_ = kNever;
};

}  // namespace

void check(const OffloadChain& chain) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const std::size_t n = chain.adjoint.size();
  if (n < 1 || chain.forward.size() + 1 != n || chain.state_units.size() != n ||
      chain.write.size() != n || chain.read.size() != n) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "offloading wants times of n adjoint steps and of n - 1 forward steps, and sizes "
                "and transfers of n states");
  }
  std::int64_t sum = 0;
  for (const auto* values :
       {&chain.forward, &chain.adjoint, &chain.state_units, &chain.write, &chain.read}) {
    for (const std::int64_t value : *values) {
      if (value < 0) throw Error(ANADROME_ERR_ARGUMENT, "offloading: a time or size is negative");
      sum = checked_add(sum, value);
      if (sum > kMost / static_cast<std::int64_t>(n)) {
        throw Error(ANADROME_ERR_ARGUMENT, "offloading: times and sizes add up to too much");
      }
    }
  }
}

OffloadRun play(const OffloadChain& chain, const OffloadLists& lists, bool with_spans) {
  return Machine(chain, lists, with_spans).play();
}

}  // namespace anadrome::schedule
