// SPDX-License-Identifier: BSD-2-Clause
// A schedule as a stream of actions for C++: forwards to schedule.h, whose conventions hold. No MPI
// needed; C++11 suffices.
#ifndef ANADROME_SCHEDULE_HPP
#define ANADROME_SCHEDULE_HPP

#include <anadrome/schedule.h>

#include <anadrome/error.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace anadrome {
inline namespace client {

/** What the caller does next. */
using ScheduleAction = anadrome_schedule_action;

/** The actions of one sweep, which a loop goes through once: `for (const auto& action : schedule)`.
 * DONE is not among them. */
class Schedule {
 public:
  /** Where the loop is. Incrementing it is anadrome_schedule_next. */
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag; /**< one pass */
    using value_type = ScheduleAction;                 /**< what it points to */
    using difference_type = std::ptrdiff_t;            /**< of no use */
    using pointer = const ScheduleAction*;             /**< to the action */
    using reference = const ScheduleAction&;           /**< to the action */

    /** The end. */
    Iterator() : schedule_(nullptr), action_() {}
    /** The next action. @throws Error */
    explicit Iterator(Schedule* schedule) : schedule_(schedule), action_() { ++*this; }
    /** What is to be done. */
    const ScheduleAction& operator*() const { return action_; }
    /** What is to be done. */
    const ScheduleAction* operator->() const { return &action_; }
    /** Get the next one. @throws Error */
    Iterator& operator++() {
      action_ = schedule_->next();
      if (action_.kind == ANADROME_SCHEDULE_DONE) schedule_ = nullptr;
      return *this;
    }
    /** As the other one. */
    void operator++(int) { ++*this; }
    /** Whether both are at the end. */
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.schedule_ == b.schedule_;
    }
    /** Whether one of them is not at the end. */
    friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

   private:
    Schedule* schedule_;
    ScheduleAction action_;
  };

  /** Open a stream: anadrome_schedule_open, which lists the options. @throws Error */
  explicit Schedule(const std::string& options) : stream_(nullptr) {
    detail::check(anadrome_schedule_open(options.c_str(), &stream_));
  }
  /** Close it. */
  ~Schedule() { anadrome_schedule_close(&stream_); }
  /** Take over the other's stream, which is left without one. */
  Schedule(Schedule&& other) noexcept : stream_(other.stream_) { other.stream_ = nullptr; }
  /** Swap the two. */
  Schedule& operator=(Schedule&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /** Get the next action; DONE at the end, and again. @throws Error */
  ScheduleAction next() {
    ScheduleAction action;
    detail::check(anadrome_schedule_next(stream_, &action));
    return action;
  }
  /** With steps=unknown: the forward sweep ended after `steps` steps; anadrome_schedule_end.
   * @throws Error */
  void finish_forward(std::int64_t steps) { detail::check(anadrome_schedule_end(stream_, steps)); }

  /** Get the next action. @throws Error */
  Iterator begin() { return Iterator(this); }
  /** After the last action. */
  Iterator end() { return Iterator(); }

 private:
  anadrome_schedule* stream_;
};

}  // namespace client
}  // namespace anadrome

#endif
