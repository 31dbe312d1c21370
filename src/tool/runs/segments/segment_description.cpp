// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/segment_description.h"

#include <fcntl.h>

#include <algorithm>

#include "base/checked.h"
#include "base/index.h"
#include "store/files/format.h"

namespace anadrome::tool {
namespace {

StoredField read_field(hid_t file, const std::string& name, std::size_t ranks, std::int64_t slots,
                       std::int64_t file_bytes) {
  const std::string path = "/slots/" + name;
  StoredField field{name, place_of(file, path, file_bytes), 0,
                    integer_table(file, "/decomposition/" + name, file_bytes)};
  if (field.place.filtered) {
    const Hdf5Dataset dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT));
    field.number = integer_attribute(dataset.get(), "number");
  } else {
    field.number = field.place.offset;
  }
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

}  // namespace

SegmentDescription read_description(hid_t file, std::int64_t file_bytes, bool kept) {
  SegmentDescription d;
  const std::int64_t format = integer_attribute(file, store::kFormatAttribute);
  require(format == store::kFormatVersion ||
              format == (kept ? store::kFilteredFormatVersion : store::kCompressedFormatVersion),
          "it has another format");
  d.run_id = text_attribute(file, "run_id");
  d.layout = text_attribute(file, "layout");
  d.number = integer_attribute(file, "segment");
  d.states_per_block = integer_attribute(file, "states_per_block");
  const std::int64_t first_slot = integer_attribute(file, "first_slot");
  require(d.states_per_block >= 1 && first_slot >= 0 && first_slot % d.states_per_block == 0,
          "states_per_block and first_slot do not fit");
  d.first_block = first_slot / d.states_per_block;
  d.ranks = integer_table(file, "/ranks", file_bytes);
  d.steps = integer_table(file, "/slot_step", file_bytes);
  const auto slots = std::ssize(d.steps);
  require(slots % d.states_per_block == 0, "/slot_step has the wrong length");
  d.blocks = slots / d.states_per_block;
  for (const std::string& name : names_in(file, "/slots")) {
    d.fields.push_back(read_field(file, name, d.ranks.size(), slots, file_bytes));
  }
  // As they were registered: so they were laid out.
  std::sort(d.fields.begin(), d.fields.end(),
            [](const StoredField& a, const StoredField& b) { return a.number < b.number; });
  if (!kept) return d;
  d.sums = integer_table(file, "/checksum", file_bytes);
  require(std::ssize(d.sums) / 2 == checked_multiply(std::ssize(d.ranks), d.blocks),
          "/checksum has the wrong length");
  const auto sweep = integer_table(file, "/sweep", file_bytes);
  const auto used = integer_table(file, "/slots_used", file_bytes);
  require(sweep.size() == 1 && used.size() == 1 && used[0] >= 0 && used[0] <= slots,
          "/sweep or /slots_used is wrong");
  d.sweep = sweep[0];
  d.used = used[0];
  d.steps.resize(size(d.used));
  require(std::is_sorted(d.steps.begin(), d.steps.end()) && (d.used == 0 || d.steps[0] >= 0),
          "/slot_step is not in order");
  return d;
}

SegmentBytes::SegmentBytes(const std::string& path)
    : path_(path), file_(store::File::open(path, O_RDONLY)) {}

void SegmentBytes::read(const StoredField& field, std::int64_t byte, char* to, std::size_t bytes) {
  if (!field.place.filtered) return file_.read_all(to, bytes, byte);
  const std::string path = "/slots/" + field.name;
  if (!hdf5_) hdf5_ = open_hdf5(path_);
  if (name_ != field.name) {
    dataset_ = Hdf5Dataset(H5Dopen2(hdf5_.get(), path.c_str(), H5P_DEFAULT));
    name_ = field.name;
  }
  const auto first = static_cast<hsize_t>(byte / field.place.element_bytes);
  const hsize_t count = bytes / size(field.place.element_bytes);
  const Hdf5Space space(H5Dget_space(dataset_.get())), memory(H5Screate_simple(1, &count, nullptr));
  const Hdf5Type type(H5Dget_type(dataset_.get()));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  require(H5Dread(dataset_.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, to) >= 0,
          path + " cannot be read");
}

}  // namespace anadrome::tool
