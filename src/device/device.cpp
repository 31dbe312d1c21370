// SPDX-License-Identifier: BSD-2-Clause
#include "device/device.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/index.h"

namespace anadrome::device {

using Operations = anadrome_device_operations;

struct Ticket::Event {
  Event(Device& made_by, void* event) : device(made_by), handle(event) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { device.give_back(handle); }
  Device& device;  ///< outlives it
  void* const handle;
  mutable std::atomic<bool> has_come{false};
};

namespace {

// What fails here is of no consequence.
template <class Body>
void quietly(Body&& body) {
  static_cast<void>(failure_from(body));
}

}  // namespace

/// The thread's device is this one for as long as it lives.
class Device::Inside {
 public:
  explicit Inside(const Device& device) : device_(device) {
    const Operations& driver = *device.operations_;
    device.check(driver.enter(driver.context, device.place_), "be entered");
  }
  ~Inside() { device_.operations_->leave(device_.operations_->context); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Device& device_;
};

std::string Device::text_of(int code) const {
  const char* const words =
      operations_->error != nullptr ? operations_->error(operations_->context, code) : nullptr;
  return "error " + std::to_string(code) + (words != nullptr ? std::string(": ") + words : "");
}

void Device::check(int code, std::string_view what) const {
  if (code == 0) return;
  throw Error(ANADROME_ERR_IO,
              "the device cannot " + std::string(what) + " (" + text_of(code) + ")");
}

Device::Device(std::shared_ptr<const Operations> operations, void* place)
    : operations_(std::move(operations)), place_(place) {
  const Inside inside(*this);
  for (void*& stream : streams_)
    check(operations_->make_stream(operations_->context, &stream), "make a stream");
}

// The program may have taken the device away before.
Device::~Device() {
  milestones_.clear();
  quietly([&] {
    const Inside inside(*this);
    for (void* event : free_events_) operations_->destroy_event(operations_->context, event);
    for (void* stream : streams_) {
      if (stream != nullptr) operations_->destroy_stream(operations_->context, stream);
    }
  });
}

// ---- events ----

void* Device::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_events_.empty()) {
      void* const event = free_events_.back();
      free_events_.pop_back();
      return event;
    }
    if (++events_ > free_events_.capacity()) free_events_.reserve(2 * events_);
  }
  void* event = nullptr;
  check(operations_->make_event(operations_->context, &event), "make an event");
  return event;
}

void Device::give_back(void* event) noexcept {
  const std::lock_guard lock(mutex_);
  free_events_.push_back(event);
}

void Device::break_with(const Failure& failure) noexcept {
  quietly([&] {
    const std::lock_guard lock(mutex_);
    if (!broken_) broken_ = failure;
  });
}

Ticket Device::record(void* stream) {
  {
    const std::lock_guard lock(mutex_);
    if (broken_) throw Error(broken_.status, broken_.message);
  }
  Ticket ticket;
  ticket.event_ = std::make_shared<Ticket::Event>(*this, take_event());
  check(operations_->record(operations_->context, ticket.event_->handle, stream),
        "record an event");
  return ticket;
}

Failure Ticket::wait() const {
  if (event_ == nullptr || event_->has_come) return {};
  Device& device = event_->device;
  const Operations& driver = *device.operations_;
  double began = now_seconds();
  std::chrono::microseconds pause(10);
  Failure failed = failure_from([&] {
    for (;;) {
      {
        const Device::Inside inside(device);
        const int code = driver.query(driver.context, event_->handle);
        if (code == 0) break;
        if (code != -1) device.check(code, "finish a copy");
      }
      if (device.moves_on()) began = now_seconds();
      const double patience = device.patience_;
      if (patience > 0 && now_seconds() - began > patience) {
        throw Error(ANADROME_ERR_IO, "the device did not finish a copy within " +
                                         std::to_string(static_cast<std::int64_t>(patience)) +
                                         " seconds");
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(500));
    }
    event_->has_come = true;
  });
  if (failed) device.break_with(failed);
  return failed;
}

// Work that was queued takes as long as it takes, so patience is with what does not move.
bool Device::moves_on() {
  Ticket oldest;
  {
    const std::lock_guard lock(mutex_);
    if (milestones_.empty()) return false;
    oldest = milestones_.front();
  }
  const Inside inside(*this);
  if (operations_->query(operations_->context, oldest.event_->handle) != 0) return false;
  const std::lock_guard lock(mutex_);
  if (!milestones_.empty() && milestones_.front().event_ == oldest.event_) milestones_.pop_front();
  return true;
}

// Of very many copies that wait, some.
void Device::note(const Ticket& copy) {
  constexpr std::size_t kMost = 1024;
  const std::lock_guard lock(mutex_);
  if (patience_ <= 0 || milestones_.size() >= kMost) return;
  milestones_.push_back(copy);
}

// ---- copies ----

void Device::begin_after(void* callers, void* ours) {
  const Ticket now = record(callers);
  check(operations_->follow(operations_->context, ours, now.event_->handle), "follow a stream");
}

Ticket Device::copy(Route route, void* to, const void* from, std::size_t bytes, void* callers,
                    After after, const Ticket& first) {
  const Inside inside(*this);
  void* const ours = stream(route);
  begin_after(callers, ours);
  void* const context = operations_->context;
  if (first) check(operations_->follow(context, ours, first.event_->handle), "follow a copy");
  check(operations_->copy(context, to, from, bytes, ours), "begin a copy");
  Ticket done = record(ours);
  note(done);
  if (after == After::kCaller)
    check(operations_->follow(context, callers, done.event_->handle), "follow a copy");
  return done;
}

void Device::copy_by(std::byte* staging, Ticket& staged, void* to, const void* from,
                     std::size_t bytes, void* callers) {
  const Ticket near = copy(Route::kNear, staging, from, bytes, callers, After::kCaller, staged);
  const Inside inside(*this);
  void* const context = operations_->context;
  void* const ours = stream(Route::kFar);
  check(operations_->follow(context, ours, near.event_->handle), "follow a copy");
  check(operations_->copy(context, to, staging, bytes, ours), "begin a copy");
  staged = record(ours);
  note(staged);
}

void Device::follow(void* callers, const Ticket& ticket) {
  if (!ticket || ticket.event_->has_come) return;
  const Inside inside(*this);
  check(operations_->follow(operations_->context, callers, ticket.event_->handle), "follow a copy");
}

Ticket Device::mark(void* callers) {
  const Inside inside(*this);
  return record(callers);
}

double Device::seconds_between(const Ticket& begin, const Ticket& end) {
  const Inside inside(*this);
  const int code = operations_->query(operations_->context, end.event_->handle);
  if (code == -1) return -1;
  check(code, "finish a step");
  double seconds = 0;
  check(operations_->seconds(operations_->context, begin.event_->handle, end.event_->handle,
                             &seconds),
        "tell the time");
  return seconds;
}

// ---- memory ----

void* Device::allocate(std::int64_t bytes) {
  const Inside inside(*this);
  void* memory = nullptr;
  const int code = operations_->allocate(operations_->context, size(bytes), &memory);
  if (code == 0 && memory != nullptr) return memory;
  throw Error(ANADROME_ERR_MEMORY, "the device has no " + std::to_string(bytes) +
                                       " bytes left for states (" + text_of(code) +
                                       "); lower the option device_memory");
}

void Device::release(void* memory) noexcept {
  quietly([&] {
    const Inside inside(*this);
    operations_->release(operations_->context, memory);
  });
}

bool Device::pin(void* memory, std::size_t bytes) noexcept {
  bool pinned = false;
  quietly([&] {
    const Inside inside(*this);
    pinned = operations_->pin(operations_->context, memory, bytes) == 0;
  });
  return pinned;
}

void Device::unpin(void* memory) noexcept {
  quietly([&] {
    const Inside inside(*this);
    operations_->unpin(operations_->context, memory);
  });
}

Pins::~Pins() {
  for (void* const block : pinned_) device_->unpin(block);
}

void Pins::pin(std::int64_t number, std::byte* block) {
  const auto at = size(number);
  if (at >= tried_.size()) tried_.resize(at + 1);
  if (tried_[at]) return;
  tried_[at] = true;
  pinned_.push_back(block);  // first: it may lack the memory
  if (!device_->pin(block, size(block_bytes_))) pinned_.pop_back();
}

}  // namespace anadrome::device
