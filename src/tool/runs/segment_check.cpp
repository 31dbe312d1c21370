#include "tool/runs/segment_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/checked.h"
#include "base/error.h"
#include "store/file_system.h"
#include "store/hdf5_write.h"
#include "tool/runs/block_bytes.h"
#include "tool/runs/hdf5_read.h"
#include "tool/runs/isolated.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;

void require(bool condition, const std::string& problem) {
  if (!condition) throw Error(ANADROME_ERR_CORRUPT, problem);
}

// One field of the file and its rows per rank.
struct StoredField {
  std::string name;
  DatasetPlace place;
  std::vector<std::int64_t> rows;  // count, stride, first element, first column per rank
};

// All that describes the states, checked against each other and the file's length.
struct Description {
  std::string run_id;
  std::int64_t first_block = 0, blocks = 0, states_per_block = 1, sweep = 0, used = 0;
  std::vector<std::int64_t> ranks, steps, sums;
  std::vector<StoredField> fields;
};

StoredField read_field(hid_t file, const std::string& name, std::size_t ranks, std::int64_t slots,
                       std::int64_t file_bytes) {
  StoredField field{name, place_of(file, "/slots/" + name, file_bytes),
                    integer_table(file, "/decomposition/" + name, file_bytes)};
  require(field.rows.size() == 4 * ranks, "/decomposition/" + name + " has the wrong length");
  std::int64_t first = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::int64_t* row = field.rows.data() + 4 * r;
    require(row[0] >= 0 && row[1] >= row[0] && row[2] == first,
            "/decomposition/" + name + " is wrong for rank " + std::to_string(r) + " of the file");
    first = checked_add(first, checked_multiply(row[1], slots));
  }
  require(first == field.place.elements, "/slots/" + name + " has the wrong length");
  return field;
}

Description read_description(hid_t file, std::int64_t file_bytes, bool kept, json& report) {
  Description d;
  require(integer_attribute(file, "anadrome_format") == 1, "it has another format");
  d.run_id = text_attribute(file, "run_id");
  report["run_id"] = d.run_id;
  report["layout"] = text_attribute(file, "layout");
  report["segment"] = integer_attribute(file, "segment");
  d.states_per_block = integer_attribute(file, "states_per_block");
  const std::int64_t first_slot = integer_attribute(file, "first_slot");
  require(d.states_per_block >= 1 && first_slot >= 0 && first_slot % d.states_per_block == 0,
          "states_per_block and first_slot do not fit");
  d.first_block = first_slot / d.states_per_block;
  d.ranks = integer_table(file, "/ranks", file_bytes);
  report["ranks"] = d.ranks;
  d.steps = integer_table(file, "/slot_step", file_bytes);
  const auto slots = static_cast<std::int64_t>(d.steps.size());
  require(slots % d.states_per_block == 0, "/slot_step has the wrong length");
  d.blocks = slots / d.states_per_block;
  for (const std::string& name : names_in(file, "/slots")) {
    d.fields.push_back(read_field(file, name, d.ranks.size(), slots, file_bytes));
  }
  // As they were registered: so they were laid out.
  std::sort(d.fields.begin(), d.fields.end(), [](const StoredField& a, const StoredField& b) {
    return a.place.offset < b.place.offset;
  });
  if (!kept) return d;
  d.sums = integer_table(file, "/checksum", file_bytes);
  require(static_cast<std::int64_t>(d.sums.size()) / 2 ==
              checked_multiply(static_cast<std::int64_t>(d.ranks.size()), d.blocks),
          "/checksum has the wrong length");
  const auto sweep = integer_table(file, "/sweep", file_bytes);
  const auto used = integer_table(file, "/slots_used", file_bytes);
  require(sweep.size() == 1 && used.size() == 1 && used[0] >= 0 && used[0] <= slots,
          "/sweep or /slots_used is wrong");
  d.sweep = sweep[0];
  d.used = used[0];
  d.steps.resize(static_cast<std::size_t>(d.used));
  require(std::is_sorted(d.steps.begin(), d.steps.end()) && (d.used == 0 || d.steps[0] >= 0),
          "/slot_step is not in order");
  report["sweep"] = d.sweep;
  report["slots_used"] = d.used;
  report["steps"] = d.steps;
  return d;
}

void check_bytes(const std::string& path, const Description& d, json& report) {
  const store::File file = store::File::open(path, O_RDONLY | O_NONBLOCK);
  std::int64_t checked = 0, unchecked = 0;
  for (std::size_t r = 0; r < d.ranks.size(); ++r) {
    for (std::int64_t b = 0; b * d.states_per_block < d.used; ++b) {
      const auto at = 2 * (r * static_cast<std::size_t>(d.blocks) + static_cast<std::size_t>(b));
      const Checksum sum = {static_cast<std::uint64_t>(d.sums[at]),
                            static_cast<std::uint64_t>(d.sums[at + 1])};
      if (sum == Checksum{}) {  // written with checksum=off
        ++unchecked;
        continue;
      }
      store::BlockIdentity identity;
      identity.run_id_low = hash_of(d.run_id);
      identity.run_id_high = hash_of(d.run_id + "'");
      identity.sweep = d.sweep;
      identity.block = d.first_block + b;
      identity.first_step = d.steps[static_cast<std::size_t>(b * d.states_per_block)];
      identity.states = std::min(d.states_per_block, d.used - b * d.states_per_block);
      std::vector<BlockPart> parts;
      for (const StoredField& field : d.fields) {
        const std::int64_t* row = field.rows.data() + 4 * r;
        const std::int64_t bytes = field.place.element_bytes;
        parts.push_back({field.place.offset + (row[2] + b * d.states_per_block * row[1]) * bytes,
                         row[0] * bytes, row[1] * bytes});
      }
      ++checked;
      if (sum_on_disk(file, identity, parts) != sum) {
        report["problems"].push_back(
            "block " + std::to_string(identity.block) + " of rank " + std::to_string(d.ranks[r]) +
            ", from step " + std::to_string(identity.first_step) + " on, is not what was written");
      }
    }
  }
  report["blocks_checked"] = checked;
  report["blocks_unchecked"] = unchecked;
}

std::string as_text(const json& report) {
  return report.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Runs `fill` on a report in a child; what it throws becomes a problem.
json report_of(const std::string& path, const std::function<void(json&, std::int64_t)>& fill) {
  json report = {{"problems", json::array()}};
  try {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) store::throw_errno(-errno, "examine", path);
    require(S_ISREG(status.st_mode), "it is no regular file");
    // Time for all its bytes on a slow disk, and then some.
    const std::int64_t seconds = 60 + status.st_size / 50000000;
    const std::string text = in_child("it", seconds, [&] {
      const store::QuietHdf5 quiet;
      try {
        fill(report, status.st_size);
      } catch (const Error& error) {
        report["problems"].push_back(error.what());
      }
      return as_text(report);
    });
    report = json::parse(text);
  } catch (const std::exception& error) {
    report["problems"].push_back(error.what());
  }
  return report;
}

}  // namespace

json check_segment(const std::string& path, bool kept, Depth depth) {
  return report_of(path, [&](json& report, std::int64_t file_bytes) {
    Description description;
    {
      const Hdf5File file = open_hdf5(path);
      description = read_description(file.get(), file_bytes, kept, report);
    }
    if (kept && depth == Depth::kBytes) check_bytes(path, description, report);
  });
}

json check_master(const std::string& path) {
  return report_of(path, [&](json& report, std::int64_t file_bytes) {
    const Hdf5File file = open_hdf5(path);
    require(integer_attribute(file.get(), "anadrome_format") == 1, "it has another format");
    report["run_id"] = text_attribute(file.get(), "run_id");
    report["schedule"] = text_attribute(file.get(), "schedule");
    report["steps_of_sweep"] = integer_attribute(file.get(), "steps");
    // A sweep without states on disk has no such table.
    report["steps"] = H5Lexists(file.get(), "/slot_step", H5P_DEFAULT) > 0
                          ? integer_table(file.get(), "/slot_step", file_bytes)
                          : std::vector<std::int64_t>{};
  });
}

}  // namespace anadrome::tool
