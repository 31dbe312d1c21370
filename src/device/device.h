// SPDX-License-Identifier: BSD-2-Clause
// A device whose memory holds fields: two streams of the library on it, and copies that begin when
// the caller's stream is there.
//
// Every region of the library's memory is copied to and from on one stream only, so that what is
// queued later comes later: slots on the device by kNear, blocks of the host's pool by kFar.
// Arrays of the caller are on both; each copy waits for the caller's stream, and that for the copy.
#pragma once

#include <anadrome/device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace anadrome::device {

class Device;

/// An event of the device that was recorded after some copies: it has come when they are done.
class Ticket {
 public:
  Ticket() = default;  ///< nothing was begun
  explicit operator bool() const { return event_ != nullptr; }
  /// The host waits. Returns what the device says is wrong, or that it took too long.
  Failure wait() const;

 private:
  friend class Device;
  struct Event;
  std::shared_ptr<const Event> event_;
};

enum class Route { kNear, kFar };

/// Throws ERR_IO for what the driver refuses.
class Device {
 public:
  /// `place`: as `owner` gives it.
  Device(std::shared_ptr<const anadrome_device_operations> operations, void* place);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  bool is(const anadrome_device_operations* operations, const void* place) const {
    return operations_.get() == operations && place_ == place;
  }

  enum class After { kNothing, kCaller };
  /// Copies once the work is done that is queued on `callers`, and `first`. What is queued on
  /// `callers` later waits for the copy, if `after` says so.
  Ticket copy(Route route, void* to, const void* from, std::size_t bytes, void* callers,
              After after = After::kCaller, const Ticket& first = {});
  /// To the host by way of `staging`, memory of the device: `callers` waits for the first half.
  /// `staged`: the last copy out of there, and then this one.
  void copy_by(std::byte* staging, Ticket& staged, void* to, const void* from, std::size_t bytes,
               void* callers);
  /// What is queued on `callers` later waits for `ticket`.
  void follow(void* callers, const Ticket& ticket);
  /// An event on a stream of the caller's, and the time between two; negative: not yet.
  Ticket mark(void* callers);
  double seconds_between(const Ticket& begin, const Ticket& end);

  /// Throws ERR_MEMORY.
  void* allocate(std::int64_t bytes);
  void release(void* memory) noexcept;
  /// False: the driver cannot; copies take longer then.
  bool pin(void* memory, std::size_t bytes) noexcept;
  void unpin(void* memory) noexcept;

  /// Waits of the host end with a failure when nothing was copied for so many seconds; 0: never.
  void set_patience(double seconds) { patience_ = seconds; }

 private:
  friend class Ticket;
  class Inside;
  void* stream(Route route) const { return streams_[route == Route::kNear ? 0 : 1]; }
  void begin_after(void* callers, void* ours);
  Ticket record(void* stream);
  void note(const Ticket& copy);
  bool moves_on();
  void* take_event();
  void give_back(void* event) noexcept;
  std::string text_of(int code) const;
  void check(int code, std::string_view what) const;
  void break_with(const Failure& failure) noexcept;

  const std::shared_ptr<const anadrome_device_operations> operations_;
  void* const place_;
  void* streams_[2] = {};
  std::mutex mutex_;
  // Guarded by mutex_: tickets are waited for, and end, on the I/O thread, too.
  std::vector<void*> free_events_;
  std::size_t events_ = 0;         ///< that were made: so many may come back
  std::deque<Ticket> milestones_;  ///< copies that had not come yet, in their order
  Failure broken_;                 ///< the first copy that failed: nothing is right from then on
  std::atomic<double> patience_{0};
};

/// Blocks of host memory that are pinned as they are used first, and let go with this.
class Pins {
 public:
  Pins(std::shared_ptr<Device> device, std::int64_t block_bytes)
      : device_(std::move(device)), block_bytes_(block_bytes) {}
  ~Pins();
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;
  void pin(std::int64_t number, std::byte* block);

 private:
  const std::shared_ptr<Device> device_;
  const std::int64_t block_bytes_;
  std::vector<bool> tried_;  ///< by number
  std::vector<void*> pinned_;
};

/// The driver that this process has loaded and that knows the pointer, or of NULL any that has a
/// device; NULL: there is none.
std::shared_ptr<const anadrome_device_operations> loaded_driver(const void* pointer);

}  // namespace anadrome::device
