// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/segment_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "store/files/file_system.h"
#include "store/files/format.h"
#include "store/files/hdf5_write.h"
#include "tool/runs/segments/block_bytes.h"
#include "tool/runs/segments/hdf5_read.h"
#include "tool/runs/segments/isolated.h"
#include "tool/runs/segments/segment_description.h"

template <class Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  static void to_json(json& text, const std::optional<Value>& value) {
    if (value) text = *value;
  }
  static void from_json(const json& text, std::optional<Value>& value) {
    if (!text.is_null()) value = text.get<Value>();
  }
};

namespace anadrome::tool {

// A report crosses from a child to its parent as text.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SegmentReport, run_id, layout, number, sweep, ranks, steps,
                                   blocks_checked, blocks_unchecked, problems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MasterReport, run_id, schedule, steps_of_sweep, steps, problems)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ObjectsReport, run_id, objects, problems)

namespace {

using nlohmann::json;

void check_bytes(const std::string& path, const SegmentDescription& d, SegmentReport& report) {
  SegmentBytes bytes_of(path);
  const auto read = [&](std::size_t field, std::int64_t byte, char* to, std::size_t bytes) {
    bytes_of.read(d.fields[field], byte, to, bytes);
  };
  for (std::size_t r = 0; r < d.ranks.size(); ++r) {
    for (std::int64_t b = 0; b * d.states_per_block < d.used; ++b) {
      const auto at = 2 * (r * size(d.blocks) + size(b));
      const Checksum sum = {static_cast<std::uint64_t>(d.sums[at]),
                            static_cast<std::uint64_t>(d.sums[at + 1])};
      if (sum == Checksum{}) {  // an early version could leave sums out
        ++report.blocks_unchecked;
        continue;
      }
      store::BlockIdentity identity;
      identity.run_id_low = hash_of(d.run_id);
      identity.run_id_high = hash_of(d.run_id + "'");
      identity.sweep = d.sweep;
      identity.block = checked_add(d.first_block, b);
      identity.first_step = d.steps[size(b * d.states_per_block)];
      identity.states = std::min(d.states_per_block, d.used - b * d.states_per_block);
      std::vector<BlockPart> parts;
      for (const StoredField& field : d.fields) {
        const std::int64_t* row = field.rows.data() + 4 * r;
        const std::int64_t bytes = field.place.element_bytes;
        parts.push_back({field.byte_of(r, b * d.states_per_block), row[0] * bytes, row[1] * bytes});
      }
      ++report.blocks_checked;
      if (sum_on_disk(read, identity, parts) != sum) {
        report.problems.push_back(
            "block " + std::to_string(identity.block) + " of rank " + std::to_string(d.ranks[r]) +
            ", from step " + std::to_string(identity.first_step) + " on, is not what was written");
      }
    }
  }
}

// Runs `fill` on a report in a child; what it throws becomes a problem.
template <class Report>
Report report_of(const std::string& path, const std::function<void(Report&, std::int64_t)>& fill) {
  Report report;
  try {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) store::throw_errno(-errno, "examine", path);
    require(S_ISREG(status.st_mode), "it is no regular file");
    // Time for all its bytes on a slow disk, and then some.
    const std::int64_t seconds = 20 + status.st_size / 50000000;
    const auto filled = [&] {
      try {
        fill(report, status.st_size);
      } catch (const Error& error) {
        report.problems.push_back(error.what());
      }
      return json(report);
    };
    return json_from_child("it", seconds, filled).template get<Report>();
  } catch (const std::exception& error) {
    report.problems.push_back(error.what());
  }
  return report;
}

Hdf5File open_this_format(const std::string& path) {
  Hdf5File file = open_hdf5(path);
  require(integer_attribute(file.get(), store::kFormatAttribute) == store::kFormatVersion,
          "it has another format");
  return file;
}

}  // namespace

json json_from_child(const std::string& what, std::int64_t seconds,
                     const std::function<json()>& body) {
  return json::parse(in_child(what, seconds, [&] {
    const store::QuietHdf5 quiet;
    register_lz4_filter();
    return body().dump(-1, ' ', false, json::error_handler_t::replace);
  }));
}

SegmentReport check_segment(const std::string& path, bool kept, Depth depth) {
  return report_of<SegmentReport>(path, [&](SegmentReport& report, std::int64_t file_bytes) {
    SegmentDescription description;
    {
      const Hdf5File file = open_hdf5(path);
      description = read_description(file.get(), file_bytes, kept);
    }
    report.run_id = description.run_id;
    report.layout = description.layout;
    report.number = description.number;
    report.ranks = description.ranks;
    if (kept) {
      report.sweep = description.sweep;
      report.steps = description.steps;
    }
    if (kept && depth == Depth::kBytes) check_bytes(path, description, report);
  });
}

ObjectsReport check_objects(const std::string& path) {
  return report_of<ObjectsReport>(path, [&](ObjectsReport& report, std::int64_t) {
    const Hdf5File file = open_this_format(path);
    report.run_id = text_attribute(file.get(), "run_id");
    report.objects = static_cast<std::int64_t>(names_in(file.get(), "/").size());
  });
}

MasterReport check_master(const std::string& path) {
  return report_of<MasterReport>(path, [&](MasterReport& report, std::int64_t file_bytes) {
    const Hdf5File file = open_this_format(path);
    report.run_id = text_attribute(file.get(), "run_id");
    report.schedule = text_attribute(file.get(), "schedule");
    report.steps_of_sweep = integer_attribute(file.get(), "steps");
    // A sweep without states on disk has no such table.
    if (H5Lexists(file.get(), "/slot_step", H5P_DEFAULT) > 0) {
      report.steps = integer_table(file.get(), "/slot_step", file_bytes);
    }
  });
}

}  // namespace anadrome::tool
