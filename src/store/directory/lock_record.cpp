// SPDX-License-Identifier: BSD-2-Clause
#include "store/directory/lock_record.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/index.h"
#include "base/plain_text.h"
#include "base/text_out.h"

namespace anadrome::store {
namespace {

constexpr std::size_t kRecordBytes = 512;
const std::string kSum = "sum ";
const std::string kHost = "\nhost ";

// Up to `end`, which is taken away too.
std::string_view take_up_to(std::string_view& text, char end) {
  const auto at = text.find(end);
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return first;
}

// The text may be anything; no number of a record is negative.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max<std::int64_t>(value, 0);
}

std::string text_of(const File& lock) {
  std::string text(kRecordBytes, '\0');
  ssize_t got;
  file_system().drop_cached(lock.get());  // its holder may be on another host
  do {
    got = file_system().read(lock.get(), text.data(), text.size(), 0);
  } while (got == -EINTR);
  if (got < 0) throw_errno(static_cast<int>(got), "read", lock.path());
  text.resize(size(got));
  return text;
}

// In the lock a word takes one line and is not long.
std::string word(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string result = plain(text.substr(0, kMost));
  std::replace(result.begin(), result.end(), ' ', '?');
  return result;
}

// A text that is not whole counts in its first line only.
LockRecord parse(const std::string& text) {
  std::string_view rest = text;
  LockRecord record;
  record.run_id = take_up_to(rest, '\n');
  const auto sum_at = text.find(kSum);
  if (sum_at == std::string::npos) return record;
  std::string_view sum = std::string_view(text).substr(sum_at + kSum.size());
  if (take_up_to(sum, '\n') != std::to_string(hash_of(text.substr(0, sum_at)))) return record;
  while (!rest.empty()) {
    std::string_view line = take_up_to(rest, '\n');
    const std::string_view key = take_up_to(line, ' ');
    if (key == "host") record.holder.host = word(line);
    if (key == "machine") record.holder.machine = word(line);
    if (key == "process") {
      record.holder.pid = number(take_up_to(line, ' '));
      record.holder.start = number(line);
    }
    if (key == "adjoints") record.adjoints = number(line);
    if (key == "since") record.since = number(line);
    if (key == "heartbeat") record.heartbeat = number(line);
    if (key == "ended") record.ended = number(line) != 0;
  }
  return record;
}

}  // namespace

bool looks_like_a_lock(std::string_view text) {
  const std::size_t id = text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz");
  return id != 0 && id != std::string_view::npos && text.substr(id).starts_with(kHost);
}

bool is_damaged_lock(std::string_view text) {
  constexpr char kLastOfText = 0x7e;
  const auto in_no_text = [](char c) { return c != '\n' && (c < ' ' || c > kLastOfText); };
  return text.size() == kRecordBytes && std::any_of(text.begin(), text.end(), in_no_text);
}

LockRecord new_lock_record(const std::string& run_id) {
  LockRecord record;
  record.run_id = run_id;
  record.holder = this_process();
  record.since = record.heartbeat = calendar_seconds();
  return record;
}

LockRecord read_lock(const File& lock) {
  // The lock's holder may be writing the record just now.
  constexpr int kTries = 3;
  LockRecord record;
  for (int i = 0; i < kTries && record.holder.pid == 0; ++i) {
    const std::string text = text_of(lock);
    if (text.empty()) break;
    record = parse(text);
  }
  return record;
}

void write_lock(const File& lock, const LockRecord& record) {
  const ProcessIdentity& holder = record.holder;
  std::string text = record.run_id + kHost + word(holder.host) + "\nmachine " +
                     word(holder.machine) + "\nprocess " + std::to_string(holder.pid) + " " +
                     std::to_string(holder.start) + "\nsince " + std::to_string(record.since) +
                     "\nheartbeat " + std::to_string(record.heartbeat) + "\nended " +
                     (record.ended ? "1" : "0") + "\n";
  if (record.adjoints > 0) text += "adjoints " + std::to_string(record.adjoints) + "\n";
  text += kSum + std::to_string(hash_of(text)) + "\n";
  text.resize(kRecordBytes - 1, ' ');  // nothing is left of a longer one before it
  text += '\n';
  lock.write_all(text.data(), text.size(), 0);
}

LockRecord update_lock(const File& lock, const std::string& run_id,
                       const std::function<void(LockRecord&)>& change) {
  static std::mutex one_at_a_time;
  const std::lock_guard guard(one_at_a_time);
  LockRecord record = read_lock(lock);
  if (record.holder.pid == 0 || record.run_id != run_id) return record;
  change(record);
  write_lock(lock, record);
  return record;
}

Flock try_flock(const File& lock) {
  int locked = file_system().lock(lock.get());
  for (int looks = 100; looks > 0 && locked == -EWOULDBLOCK; --looks) {
    if (is_live(read_lock(lock), Flock::kUnavailable, calendar_seconds())) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    locked = file_system().lock(lock.get());
  }
  if (locked == -EWOULDBLOCK) return Flock::kHeld;
  for (const int without : {ENOSYS, EOPNOTSUPP, ENOLCK, EBADF})  // NFS: that is open to read
    if (locked == -without) return Flock::kUnavailable;
  if (locked < 0) throw_errno(locked, "lock", lock.path());
  return Flock::kTaken;
}

bool is_live(const LockRecord& record, Flock flock, std::int64_t now) {
  if (flock == Flock::kHeld) return true;
  // An unknown holder died before it could say who it is.
  if (record.holder.pid == 0) return false;
  const ProcessState state = state_of(record.holder);
  if (state == ProcessState::kElsewhere) return now - record.heartbeat < kStaleSeconds;
  return flock == Flock::kUnavailable && state != ProcessState::kGone;
}

void throw_taken_over(const std::string& path, const LockRecord& successor) {
  throw Error(ANADROME_ERR_BUSY,
              path + " was taken over by another run, which took this one for dead: " +
                  describe_holder(successor, calendar_seconds()) +
                  "; its files are that run's now");
}

std::string describe_holder(const LockRecord& record, std::int64_t now) {
  if (record.holder.pid == 0) return "a process that did not say which";
  const std::int64_t age = std::max<std::int64_t>(now - record.heartbeat, 0);
  return "process " + std::to_string(record.holder.pid) + " on " + record.holder.host + " since " +
         format_calendar(record.since) + ", last heartbeat " + std::to_string(age) + " s ago";
}

}  // namespace anadrome::store
