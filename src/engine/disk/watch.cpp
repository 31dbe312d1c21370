// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/index.h"
#include "base/platform/platform.h"
#include "base/text_out.h"
#include "base/thread.h"
#include "engine/asked/log.h"
#include "engine/disk/activity.h"
#include "store/directory/lock_record.h"
#include "store/directory/run_files.h"

namespace anadrome::engine {
namespace {

// Four heartbeats may be missed, or the file system be slow, before anybody is named.
double period_of(const Watch::Settings& settings) {
  constexpr double kShortest = 0.01;
  const double longest = std::max(settings.lock_seconds, kShortest);
  return settings.seconds > 0 ? std::clamp(settings.seconds / 4, kShortest, longest) : longest;
}

void say(const std::string& what) { log_line(ANADROME_LOG_WARNING, {"watchdog: ", what}); }

// Where a stop does not show, a silent process that is there may be stopped: as one from afar.
store::ProcessState seen(const store::ProcessIdentity& process) {
  const store::ProcessState state = store::state_of(process);
  const bool hidden = platform::kPortable && state == store::ProcessState::kRuns;
  return hidden ? store::ProcessState::kElsewhere : state;
}

std::string text_of(store::ProcessState state) {
  switch (state) {
    case store::ProcessState::kRuns:
      return "its process runs";
    case store::ProcessState::kStopped:
      return "its process was stopped by a signal (SIGCONT resumes it) or by a debugger";
    case store::ProcessState::kGone:
      return "its process is dead";
    case store::ProcessState::kElsewhere:
      break;
  }
  return "its process or its host is stopped or dead, or cut off";
}

std::string text_of(const store::Heartbeat& heartbeat) {
  const std::string process =
      heartbeat.process.pid == 0
          ? "which did not say who it is"
          : "process " + std::to_string(heartbeat.process.pid) + " on " + heartbeat.process.host;
  return process + (heartbeat.beat == 0 ? ", no heartbeat yet"
                                        : ", last seen " + text_of_activity(heartbeat.activity));
}

const char* what_follows(bool aborts) {
  return aborts ? "the job ends (watchdog=SECONDS,abort)"
                : "the other ranks wait for it (watchdog=SECONDS,abort would end the job)";
}

}  // namespace

Watch::Watch(const Settings& settings)
    : settings_(settings), period_(period_of(settings)), process_(store::this_process()) {
  if (settings_.seconds > 0) {
    file_ = std::make_unique<store::HeartbeatFile>(
        store::HeartbeatFile::place(settings_.directory, settings_.run_id));
    peer(settings_.rank == 0 ? settings_.ranks - 1 : 0);
    file_->write(settings_.rank, next_heartbeat());  // the others are written in its place
  }
  thread_ = start_thread(
      "anadrome-watch",
      "keeps the lock of the directory fresh (schedules in memory alone, as revolve, need none)",
      [this](const std::stop_token& stop) { serve(stop); });
}

Watch::~Watch() {
  thread_.request_stop();
  thread_.join();
}

Failure Watch::taken_over() const {
  const std::lock_guard lock(mutex_);
  return taken_over_;
}

Failure Watch::look_at_lock() {
  if (settings_.holds_lock) beat_lock();
  return taken_over();
}

// ---- on the thread ----

void Watch::serve(const std::stop_token& stop) {
  double looked = now_seconds(), beaten = looked;
  const std::chrono::duration<double> period(period_);
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wakes_.wait_for(lock, stop, period, [&] { return stop.stop_requested(); })) return;
    }
    const double now = now_seconds();
    if (settings_.holds_lock && now - beaten >= settings_.lock_seconds) {
      beat_lock();
      beaten = now;
    }
    if (file_ == nullptr) continue;
    beat();
    failure_from([&] { look(now - looked); });  // no memory for a text
    looked = now;
  }
}

// A failed read or write does no harm; who finds another's name there has lost the files.
void Watch::beat_lock() noexcept {
  const Failure failure = failure_from([&] {
    const store::File lock = settings_.directory.open_file(store::kLockName, O_RDWR);
    const store::LockRecord there = store::update_lock(
        lock, settings_.run_id,
        [](store::LockRecord& record) { record.heartbeat = calendar_seconds(); });
    if (there.holder.pid != 0 && there.run_id != settings_.run_id) {
      store::throw_taken_over(settings_.directory.path(), there);
    }
  });
  if (failure.status != ANADROME_ERR_BUSY) return;
  const std::lock_guard lock(mutex_);
  if (!taken_over_) taken_over_ = failure;
}

store::Heartbeat Watch::next_heartbeat() {
  return {++beats_, process_, activity_.load(std::memory_order_relaxed), ends_};
}

// One that fails shows to the others as silence.
void Watch::beat() noexcept {
  failure_from([&] { file_->write(settings_.rank, next_heartbeat()); });
}

// Whoever has not had the duty has no memory for all.
Watch::Peer& Watch::peer(int rank) {
  if (at(rank) >= peers_.size())
    peers_.resize(at(rank) + 1, Peer{Silence(settings_.seconds, period_), {}});
  return peers_[at(rank)];
}

void Watch::look(double seconds) {
  const store::HeartbeatFile::Look heartbeats(*file_);
  for (int rank = 0; rank < settings_.rank; ++rank) {
    if (listen(heartbeats, rank, seconds)) return;  // it has the duty
  }
  bool stopped = false;
  for (int rank = 0; rank < settings_.ranks; ++rank) {
    if (rank == settings_.rank) continue;
    if (rank > settings_.rank) listen(heartbeats, rank, seconds);
    if (name_if_stopped(rank)) stopped = true;
  }
  name_who_left(seconds);
  if (stopped && settings_.aborts) end_job();
}

// Does that rank answer?
bool Watch::listen(const store::HeartbeatFile::Look& heartbeats, int rank, double seconds) {
  Peer& peer = this->peer(rank);
  const std::optional<store::Heartbeat> found = heartbeats.read(rank);
  if (found && found->ends) end_later();  // it said why
  if (found) peer.last = *found;
  if (peer.last.process.pid == 0) peer.last.process = settings_.process_of(rank);
  peer.silence.look(seconds, peer.last.beat);
  if (peer.named && !peer.silence.too_long()) {
    peer.named = false;
    say("rank " + std::to_string(rank) + " answers again, " +
        format_fixed(now_seconds() - peer.named_at, 1) + " s after it was named");
  }
  return !peer.silence.too_long();
}

// True: it is named, and was not before. One that the kernel calls running is late, not stopped.
bool Watch::name_if_stopped(int rank) {
  Peer& peer = this->peer(rank);
  if (peer.named || !peer.silence.too_long()) return false;
  const store::ProcessState state = seen(peer.last.process);
  if (state == store::ProcessState::kRuns) return false;
  name(rank, text_of(state));
  return true;
}

// One that left the loop in the middle of an ADVANCE, perhaps: the others hear of it at their next
// agreement, which they never reach if they wait for its messages in their solver. Said once.
void Watch::name_who_left(double seconds) {
  peer(settings_.rank).last = {beats_, process_, activity_.load(std::memory_order_relaxed), false};
  const auto doing = [&](int rank) { return doing_of(peer(rank).last.activity); };
  int solving = 0;
  while (solving < settings_.ranks &&
         (doing(solving) < Doing::kAdvance || doing(solving) > Doing::kVisit))
    ++solving;
  for (int rank = 0; rank < settings_.ranks; ++rank) {
    double& left = peer(rank).left;
    const bool was_long = left >= settings_.seconds;
    left = solving < settings_.ranks && doing(rank) == Doing::kClose ? left + seconds : 0;
    if (was_long || left < settings_.seconds) continue;
    say("rank " + std::to_string(rank) + " (" + text_of(peer(rank).last) +
        ") left the loop, and rank " + std::to_string(solving) + " is " +
        text_of_activity(peer(solving).last.activity) +
        ": where that waits for a message of it, it waits in vain; a rank that has to leave calls "
        "anadrome_fail in its place, and goes on");
  }
}

void Watch::name(int rank, const std::string& how) {
  Peer& peer = this->peer(rank);
  peer.named = true;
  peer.named_at = now_seconds();
  const double seconds = peer.silence.seconds();
  const auto since = calendar_seconds() - static_cast<std::int64_t>(seconds);
  say("rank " + std::to_string(rank) + " (" + text_of(peer.last) + ") has not answered for " +
      format_fixed(seconds, 1) + " s, since " + format_calendar(since) + ": " + how + "; rank " +
      std::to_string(settings_.rank) + " is " +
      text_of_activity(activity_.load(std::memory_order_relaxed)) + "; " +
      what_follows(settings_.aborts));
}

// Every rank ends itself: where one ends alone, some launchers leave the others. They learn it from
// the last heartbeat of this one.
void Watch::end_job() {
  ends_ = true;
  beat();
  end_later();
}

// Launchers end a job with its first rank that fails: until then the others are to have heard of
// the end, and its reason is to be on its way to whoever reads it.
void Watch::end_later() {
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * period_));
  ::_exit(EXIT_FAILURE);
}

// ---- on the caller's thread ----

void name_the_late(Agreement& agreement, const Options& options) {
  agreement.set_patience(options.watchdog, [&agreement, aborts = options.watchdog_aborts](
                                               int rank, double seconds, bool came) {
    const store::ProcessIdentity process = agreement.process_of(rank);
    const std::string who = "rank " + std::to_string(rank) + " (process " +
                            std::to_string(process.pid) + " on " + process.host + ")";
    const std::string time = format_fixed(seconds, 1) + " s";
    if (came) {
      say(who + " is in anadrome_begin like the others, after " + time);
      return true;
    }
    const store::ProcessState state = seen(process);
    if (state == store::ProcessState::kRuns) return false;  // it prepares its run, perhaps
    // From afar, one that is stopped looks as one that is busy.
    const bool sure = state != store::ProcessState::kElsewhere;
    say(who + " has held up anadrome_begin for " + time + ": " + text_of(state) +
        (sure ? "" : ", or busy before that call") + "; " + what_follows(sure && aborts));
    if (sure && aborts) MPI_Abort(agreement.comm(), EXIT_FAILURE);
    return true;
  });
}

}  // namespace anadrome::engine
