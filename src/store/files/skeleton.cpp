// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/skeleton.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <numeric>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/platform/platform.h"
#include "store/files/file_system.h"
#include "store/files/format.h"
#include "store/files/hdf5_write.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {
namespace {

std::int64_t total(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0}, checked_add);
}

// /states/<field> [slot][element of the global state] as a view of the padded, rank-major bytes.
void create_view(hid_t file, const SegmentDescription& segment, const FieldDescription& field,
                 hid_t type, std::int64_t elements) {
  const std::int64_t slots = segment.blocks * segment.states_per_block;
  const std::array<hsize_t, 2> shape = {extent(slots), extent(total(field.counts))};
  const hsize_t length = extent(elements);
  const Hdf5Space view(checked(H5Screate_simple(2, shape.data(), nullptr), "create a dataspace"));
  const Hdf5Space source(checked(H5Screate_simple(1, &length, nullptr), "create a dataspace"));
  const Hdf5Properties creation(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"));
  std::int64_t first = 0, column = 0;
  for (std::size_t r = 0; r < field.counts.size(); ++r) {
    if (field.counts[r] > 0) {
      const std::array<hsize_t, 2> to = {0, extent(column)};
      const std::array<hsize_t, 2> columns = {extent(slots), extent(field.counts[r])};
      const hsize_t from = extent(first), stride = extent(field.strides[r]);
      const hsize_t count = extent(slots), block = extent(field.counts[r]);
      checked(H5Sselect_hyperslab(view.get(), H5S_SELECT_SET, to.data(), nullptr, columns.data(),
                                  nullptr),
              "select columns");
      checked(H5Sselect_hyperslab(source.get(), H5S_SELECT_SET, &from, &stride, &count, &block),
              "select slots");
      checked(H5Pset_virtual(creation.get(), view.get(), ".", ("/slots/" + field.name).c_str(),
                             source.get()),
              "map a virtual dataset");
    }
    first += field.strides[r] * slots;
    column += field.counts[r];
  }
  checked(H5Sselect_all(view.get()), "select all");
  const Hdf5Dataset dataset(
      checked(H5Dcreate2(file, ("/states/" + field.name).c_str(), type, view.get(), H5P_DEFAULT,
                         creation.get(), H5P_DEFAULT),
              "create /states/" + field.name));
}

std::int64_t offset_of(const Hdf5Dataset& dataset, const std::string& path) {
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) throw Error(ANADROME_ERR_IO, "HDF5 gave no place to " + path);
  return static_cast<std::int64_t>(offset);
}

// /slots/<field>, its view, and its table of ranks. A field that is empty on all ranks has none of
// them.
std::int64_t create_field(hid_t file, const SegmentDescription& segment,
                          const FieldDescription& field) {
  const std::int64_t slots = checked_multiply(segment.blocks, segment.states_per_block);
  const std::int64_t elements = checked_multiply(total(field.strides), slots);
  if (elements == 0) return 0;
  std::vector<std::int64_t> rows;
  std::int64_t first = 0, column = 0;
  for (std::size_t r = 0; r < field.counts.size(); ++r) {
    rows.insert(rows.end(), {field.counts[r], field.strides[r], first, column});
    first += field.strides[r] * slots;
    column += field.counts[r];
  }
  const std::array<hsize_t, 2> table = {field.counts.size(), 4};
  write_table(file, "/decomposition/" + field.name, table, rows);
  const Hdf5Type type = hdf5_type(field.type);
  const std::array<hsize_t, 1> shape = {extent(elements)};
  const std::string path = "/slots/" + field.name;
  const Hdf5Dataset dataset = create_table(file, path, type.get(), shape);
  if (segment.views) create_view(file, segment, field, type.get(), elements);
  return offset_of(dataset, path);
}

SegmentOffsets write_skeleton(const std::string& path, const SegmentDescription& segment) {
  const QuietHdf5 quiet;
  const Hdf5File file = create_file(path, kPage);
  for (const char* name : {"/slots", "/states", "/decomposition"}) {
    const Hdf5Group group(checked(
        H5Gcreate2(file.get(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create a group"));
  }
  write_attribute(file.get(), kFormatAttribute,
                  segment.compressed ? kCompressedFormatVersion : kFormatVersion);
  write_attribute(file.get(), "run_id", segment.run_id);
  write_attribute(file.get(), "layout", segment.layout);
  write_attribute(file.get(), "segment", segment.number);
  write_attribute(file.get(), "first_slot", segment.first_block * segment.states_per_block);
  write_attribute(file.get(), "states_per_block", segment.states_per_block);
  const std::array<hsize_t, 1> ranks = {segment.ranks.size()};
  write_table(file.get(), "/ranks", ranks, segment.ranks);

  SegmentOffsets offsets;
  for (const FieldDescription& field : segment.fields) {
    offsets.fields.push_back(create_field(file.get(), segment, field));
  }
  const std::array<hsize_t, 1> one = {1};
  const Hdf5Dataset sweep = create_table(file.get(), "/sweep", H5T_STD_I64LE, one);
  offsets.sweep = offset_of(sweep, "/sweep");
  const Hdf5Dataset used = create_table(file.get(), "/slots_used", H5T_STD_I64LE, one);
  offsets.slots_used = offset_of(used, "/slots_used");
  const std::array<hsize_t, 1> slots = {extent(segment.blocks * segment.states_per_block)};
  const Hdf5Dataset steps = create_table(file.get(), "/slot_step", H5T_STD_I64LE, slots);
  offsets.slot_step = offset_of(steps, "/slot_step");
  const std::array<hsize_t, 3> sums_shape = {segment.ranks.size(), extent(segment.blocks), 2};
  const Hdf5Dataset sums = create_table(file.get(), "/checksum", H5T_STD_U64LE, sums_shape);
  offsets.checksum = offset_of(sums, "/checksum");
  write_out(file.get());
  return offsets;
}

// Copies what the skeleton really holds; the holes, which are the states' places, stay holes. The
// first page is last: after a power loss a file whose first page is there says whose it is, if the
// rest was synced. Whoever waits for that waits for all that the disk has in its cache.
void copy_extents(const File& skeleton, const File& to, std::int64_t length, Lasts lasts,
                  const ScratchFile::Fill& fill) {
  const std::int64_t first = std::min(length, ScratchFile::kFirstPage);
  std::vector<char> buffer(std::size_t{1} << 16);
  off_t position = first;
  while (position < length) {
    const auto [begin, hole] = platform::next_data(skeleton.get(), position, length);
    if (begin < 0) break;
    for (off_t at = begin; at < hole;) {
      const auto count = std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(hole - at));
      skeleton.read_all(buffer.data(), count, at);
      to.write_all(buffer.data(), count, at);
      at += static_cast<off_t>(count);
    }
    position = hole;
  }
  if (fill) fill(to);
  // A disk that cannot may lose no more than whose file it is.
  if (lasts == Lasts::kPowerLoss) failure_from([&] { to.sync(); });
  buffer.resize(static_cast<std::size_t>(first));
  skeleton.read_all(buffer.data(), buffer.size(), 0);
  to.write_all(buffer.data(), buffer.size(), 0);
}

std::int64_t require_allowed_length(const SegmentDescription& segment) {
  constexpr std::int64_t kStructure = std::int64_t{1} << 20;
  std::int64_t length = kStructure;
  for (const FieldDescription& field : segment.fields) {
    const std::int64_t slot = checked_multiply(total(field.strides), element_bytes(field.type));
    length = checked_add(length, checked_multiply(slot, segment.blocks * segment.states_per_block));
  }
  store::require_allowed_length(length);
  return length;
}

}  // namespace

void require_allowed_length(std::int64_t bytes) {
  if (is_too_long(bytes)) {
    throw Error(ANADROME_ERR_NO_SPACE, "a state file of " + format_bytes(bytes) +
                                           " is longer than the limit on file sizes (ulimit -f)");
  }
}

SegmentOffsets create_segment(const FilePlace& place, const SegmentDescription& segment) {
  const ScratchFile scratch(place, require_allowed_length(segment));
  SegmentOffsets offsets = write_skeleton(scratch.path(), segment);
  offsets.file_bytes = scratch.publish(place, segment.reserved, segment.lasts);
  return offsets;
}

ScratchFile::ScratchFile(const FilePlace& place, std::int64_t length) {
  const int made = platform::make_scratch(path_, length);
  if (made < 0) throw_errno(made, "make a file in memory for", place.path());
  file_ = File(made, "skeleton.h5");
}

ScratchFile::~ScratchFile() { platform::remove_scratch(path_); }

std::int64_t ScratchFile::publish(const FilePlace& place, bool reserved, Lasts lasts,
                                  const Fill& fill) const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno(-errno, "examine", file_.path());
  const std::int64_t length = status.st_size;
  File file = place.open(O_RDWR | O_CREAT | O_EXCL);
  try {
    const int sized = file_system().truncate(file.get(), length);
    if (sized < 0) throw_errno(sized, "set the length of", file.path());
    // Space first: what is written after this does not run out of it.
    const int allocated = reserved ? file_system().allocate(file.get(), 0, length) : 0;
    if (allocated < 0 && allocated != -EOPNOTSUPP && allocated != -ENOSYS) {
      throw_errno(allocated, "reserve " + format_bytes(length) + " for", file.path());
    }
    copy_extents(file_, file, length, lasts, fill);
  } catch (...) {
    file.close();
    place.unlink();
    throw;
  }
  return length;
}

}  // namespace anadrome::store
