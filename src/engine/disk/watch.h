// SPDX-License-Identifier: BSD-2-Clause
// The thread that says for this rank that it lives, whatever its solver is at: it keeps the lock's
// heartbeat fresh, where this rank holds one, and with option `watchdog` leaves a heartbeat of its
// own and looks for those of the others.
//
// The lowest rank that answers looks at all others and speaks; the others make sure that a lower
// one answers. No MPI and no HDF5 here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engine/asked/options.h"
#include "engine/disk/silence.h"
#include "engine/ranks/agreement.h"
#include "store/directory/heartbeat_file.h"
#include "store/directory/lock_record.h"
#include "store/files/directory.h"

namespace anadrome::engine {

/// The call or step that a rank is in.
enum class Doing : std::uint8_t {
  kBegin,
  kNext,
  kAdvance,
  kAdvanceAgain,
  kTurn,
  kAdjoint,
  kVisit,
  kAfterDone,
  kRewind,
  kPass,
  kClose
};

/// In one word: what, and at which step.
inline constexpr int kStepBits = 56;
inline constexpr std::uint64_t kStepMask = (std::uint64_t{1} << kStepBits) - 1;
inline Doing doing_of(std::uint64_t activity) { return static_cast<Doing>(activity >> kStepBits); }

class Watch {
 public:
  struct Settings {
    store::Directory directory;  ///< the run's own
    std::string run_id;
    bool holds_lock = false;
    double seconds = 0;  ///< of silence after which a rank is named; 0: nobody is looked for
    bool aborts = false;
    int rank = 0, ranks = 1;
    /// A rank that left no heartbeat yet; pid 0: not known here.
    std::function<store::ProcessIdentity(int rank)> process_of = [](int) {
      return store::ProcessIdentity{};
    };
    double lock_seconds = store::kHeartbeatSeconds;  ///< between heartbeats of the lock
  };

  /// With `seconds`, the heartbeat file is there. Throws ERR_UNSUPPORTED (it is not there for this
  /// rank), ERR_IO, ERR_NO_SPACE, ERR_MEMORY.
  explicit Watch(const Settings& settings);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// By the caller's thread: what it begins. Two stores.
  void note(Doing doing, std::int64_t step) {
    const auto low = static_cast<std::uint64_t>(step) & kStepMask;
    activity_.store(static_cast<std::uint64_t>(doing) << kStepBits | low,
                    std::memory_order_relaxed);
  }
  /// ... what it is at, of the steps it was at.
  void note(Doing doing) {
    note(doing, static_cast<std::int64_t>(activity_.load(std::memory_order_relaxed) & kStepMask));
  }
  /// ERR_BUSY once another run has taken the lock for dead.
  Failure taken_over() const;
  /// The same, at once: between heartbeats nothing is known.
  Failure look_at_lock();

 private:
  struct Peer {
    Silence silence;
    store::Heartbeat last;
    bool named = false;
    double named_at = 0;
    double left = 0;  ///< seconds that it is in close, and others in their solver
  };
  void serve(const std::stop_token& stop);
  void beat_lock() noexcept;
  store::Heartbeat next_heartbeat();
  void beat() noexcept;
  void look(double seconds);
  Peer& peer(int rank);
  bool listen(const store::HeartbeatFile::Look& heartbeats, int rank, double seconds);
  bool name_if_stopped(int rank);
  void name_who_left(double seconds);
  void name(int rank, const std::string& how);
  [[noreturn]] void end_job();
  [[noreturn]] void end_later();

  const Settings settings_;
  const double period_;
  const store::ProcessIdentity process_;
  std::unique_ptr<store::HeartbeatFile> file_;
  std::atomic<std::uint64_t> activity_{0};

  // The thread's.
  std::vector<Peer> peers_;  ///< up to the highest that it listened to
  std::int64_t beats_ = 0;
  bool ends_ = false;

  mutable std::mutex mutex_;  ///< guards the next one, and is what the thread waits with
  Failure taken_over_;
  std::condition_variable_any wakes_;
  std::jthread thread_;  ///< last: it uses all of the above
};

/// Names the late where there are no heartbeats yet, in the first begin: Agreement::call_roll
/// speaks and acts as the watch does.
void name_the_late(Agreement& agreement, const Options& options);

}  // namespace anadrome::engine
