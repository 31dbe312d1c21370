// SPDX-License-Identifier: BSD-2-Clause
// The report on a segment: its description, and whether its states are those that were written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace anadrome::tool {

/// How far to look.
enum class Depth {
  kStructure,  ///< the description of the states
  kBytes       ///< every state, too
};

/// A file that cannot be read has only problems.
struct SegmentReport {
  std::optional<std::string> run_id, layout;
  std::optional<std::int64_t> number, sweep;
  std::vector<std::int64_t> ranks;
  std::optional<std::vector<std::int64_t>> steps;  ///< of kept files
  std::int64_t blocks_checked = 0, blocks_unchecked = 0;
  std::vector<std::string> problems;
};

/// `kept`: the run ended with keep=on; otherwise the tables for readers were never written.
SegmentReport check_segment(const std::string& path, bool kept, Depth depth);

struct MasterReport {
  std::optional<std::string> run_id, schedule;
  std::optional<std::int64_t> steps_of_sweep;
  std::vector<std::int64_t> steps;  ///< whose states are on disk
  std::vector<std::string> problems;
};

MasterReport check_master(const std::string& path);

/// What a store left for readers.
struct ObjectsReport {
  std::optional<std::string> run_id;
  std::int64_t objects = 0;
  std::vector<std::string> problems;
};

ObjectsReport check_objects(const std::string& path);

/// What `body` finds in files that may be anything with HDF5, in a child: see in_child.
nlohmann::json json_from_child(const std::string& what, std::int64_t seconds,
                               const std::function<nlohmann::json()>& body);

/// Whether the virtual datasets of a kept run show what its segments hold: a problem for each of
/// those among `files` in `directory` that show something else or cannot be
/// read; all states are read through HDF5 and from their places. states.h5 is looked at where all
/// segments are sound.
std::map<std::string, std::string> check_views(const std::string& directory,
                                               const std::vector<std::string>& files);

}  // namespace anadrome::tool
