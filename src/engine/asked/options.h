// SPDX-License-Identifier: BSD-2-Clause
// The options of a run: one list for anadrome_set, the environment and every front end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/catalogue.h"
#include "store/files/segment.h"
#include "store/moving/codec.h"

namespace anadrome::engine {

enum class Layout { kShared, kNode, kRank };
enum class Audit { kOff, kWarn, kError, kExact };

struct Options {
  std::int64_t memory = std::int64_t{1} << 30;
  std::int64_t device_memory = 0;  ///< for slots on a device
  std::string directory = ".";
  std::string name = "anadrome";
  double wait_for_lock = 0;  ///< seconds that another process is waited for
  store::TransportName transport = store::TransportName::kAuto;
  std::int64_t disk = -1;  ///< bytes, all ranks together; -1: unlimited
  Layout layout = Layout::kShared;
  /// A second, faster directory for states; these options have two values then, its own first.
  struct Fast {
    std::string directory;  ///< empty: there is none
    std::int64_t disk = -1;
    Layout layout = Layout::kNode;
    store::TransportName transport = store::TransportName::kAuto;
    std::int64_t bandwidth_limit = 0;
    bool has_disk = false, has_layout = false;  ///< the option has two values
  } fast;
  const schedule::Entry* schedule = nullptr;  ///< NULL: auto
  std::int64_t interval = 0;                  ///< 0: measured
  std::int64_t checkpoints = -1;  ///< most slots the schedule may use in memory; -1: all there are
  std::int64_t passes = 0;        ///< that will follow the sweep
  std::int64_t bandwidth_limit = 0;  ///< bytes per second; 0: none
  /// Codecs of states on disk: see Encoding. Empty: none.
  store::Codecs compress;
  bool probe = false;         ///< see Probe
  double gradient_error = 0;  ///< relative, asked for; 0: none
  double tolerance = 1e-6;    ///< of the largest magnitude in a field; for codecs that have one
  bool keep = false;
  bool resume = false;
  double checkpoint_interval = 60;  ///< seconds between commits
  std::string problem;              ///< must be the same for a run to go on
  std::int64_t sweep = 1;           ///< number of the first sweep
  Audit audit = Audit::kError;
  double watchdog = 0;  ///< seconds of silence after which a rank is named; 0: nobody listens
  bool watchdog_aborts = false;  ///< and all ranks then end the job
  bool progress = false;
  std::string trace = "off";   ///< "off" or a file
  std::string report = "off";  ///< "off", "-" (standard output) or a file

  /// Throws ERR_ARGUMENT: an unknown key names the nearest one, a bad value says what is
  /// understood.
  void set(std::string_view key, std::string_view value);
  /// Of the environment: "key=value key=value"; throws as set does.
  void set_environment(std::string_view text);

  bool mpio() const { return transport == store::TransportName::kMpio; }
  Layout fast_layout() const { return fast.has_layout ? fast.layout : Layout::kNode; }
  bool has_fast() const { return !fast.directory.empty(); }
  /// Paths lead where they lead now, wherever the program goes.
  void fix_paths();
  /// The options of the fast directory as if it were the only one. Files there are for this run
  /// alone, and nobody listens to heartbeats.
  Options of_fast() const;
  /// Does an option name a value for a fast directory, whether there is one or not?
  bool has_two_values() const {
    return has_fast() || fast.has_disk || fast.has_layout || fast.transport != transport ||
           fast.bandwidth_limit != bandwidth_limit;
  }
  /// Throws ERR_ARGUMENT where values do not fit each other.
  void require_fit() const;

  /// Is it to be seen, in some sweep, what lossy compression does to the gradient?
  bool probes() const { return has_tolerance() && (probe || gradient_error > 0); }
  /// Is the codec one that keeps to a tolerance?
  bool has_tolerance() const;
  /// Does a state come back from disk with other numbers?
  bool is_lossy() const;
  /// Is single precision asked for, which states in memory may have, too?
  bool asks_for_single() const {
    return compress.size() == 1 && compress.front() == store::CodecName::kFloat32;
  }
  /// The value of `compress`.
  std::string codec() const;

  /// Are compressed blocks to leave room on disk to others? Not every file system writes as fast
  /// into files of which nothing was reserved.
  /// Residuals leave nearly all of it.
  bool leaves_holes() const {
    const bool residuals = schedule != nullptr && schedule->needs.undo;
    return !compress.empty() && !has_fast() && (disk >= 0 || residuals);
  }

  /// Files that somebody will read later have every anchor.
  bool files_are_read() const { return keep || resume; }
  /// For the words on what is damaged on disk.
  const char* begin_anew() const {
    return resume
               ? "; a run that goes on meets it again: begin anew with resume=off, or remove the "
                 "run's directory first"
               : "";
  }
  bool writes_all_anchors() const { return files_are_read() || passes > 0; }

  /// The slots that the schedule may use, of `slots` slots in memory.
  std::int64_t most_slots(std::int64_t slots) const {
    return checkpoints > 0 && checkpoints < slots ? checkpoints : slots;
  }

  /// Every key that must be the same on all ranks, or every one, with its value in one spelling.
  std::vector<std::pair<std::string, std::string>> shared_values(bool and_local = false) const;

  // For the summary; empty if there is nothing to say.
  /// Settings of the environment that the program's own beat.
  std::string overruled() const;
  /// Settings without effect on a sweep of this schedule, and why. Are slots in single precision?
  std::string without_effect(const schedule::Entry& played, bool single = false) const;

 private:
  struct Texts {
    std::optional<std::string> environment, program;
  };
  std::map<std::string, Texts, std::less<>> texts_;  ///< as they were set last
};

/// NULL is auto.
const char* to_string(const schedule::Entry* schedule);
const char* to_string(Layout layout);

}  // namespace anadrome::engine
