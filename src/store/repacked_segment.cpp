// SPDX-License-Identifier: BSD-2-Clause
#include "store/repacked_segment.h"

#include <unistd.h>

#include "base/checked.h"
#include "store/block_layout.h"
#include "store/file_system.h"
#include "store/hdf5_write.h"

namespace anadrome::store {
namespace {

std::int64_t elements_of(const SegmentDescription& segment, const FieldDescription& field) {
  std::int64_t elements = 0;
  for (const std::int64_t stride : field.strides)
    elements =
        checked_add(elements, checked_multiply(stride, segment.blocks * segment.states_per_block));
  return elements;
}

}  // namespace

RepackedSegment::RepackedSegment(const std::string& path, const SegmentDescription& segment)
    : path_(path) {
  SegmentDescription description = segment;
  description.filtered = true;
  description.reserved = false;
  offsets_ = create_segment(path, description);
  try {
    const QuietHdf5 quiet;
    const Hdf5Properties access(checked(H5Pcreate(H5P_FILE_ACCESS), "create properties"));
    checked(H5Pset_fapl_sec2(access.get()), "choose the file driver");
    file_ = Hdf5File(checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), "open " + path));
    for (const FieldDescription& field : segment.fields) {
      const std::int64_t elements = elements_of(segment, field);
      std::unique_ptr<FilteredWriter>& writer = fields_.emplace_back();
      if (elements == 0) continue;
      const std::string name = "/slots/" + field.name;
      writer = std::make_unique<FilteredWriter>(
          Hdf5Dataset(checked(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), "open " + name)),
          elements, element_bytes(field.type), encoder_);
    }
  } catch (...) {
    give_up();
    throw;
  }
}

RepackedSegment::~RepackedSegment() {
  if (!finished_) give_up();
}

// HDF5 cannot close a file that it cannot write to: where the disk is full it gets room first.
void RepackedSegment::give_up() {
  const QuietHdf5 quiet;
  if (file_.get() >= 0) (void)::truncate(path_.c_str(), 0);
  fields_.clear();
  file_ = {};
  file_system().unlink(path_);
}

void RepackedSegment::append(std::size_t field, std::span<const std::byte> bytes) {
  const QuietHdf5 quiet;
  if (!bytes.empty()) fields_[field]->append(bytes);
}

void RepackedSegment::skip(std::size_t field, std::int64_t bytes) {
  const QuietHdf5 quiet;
  if (bytes > 0) fields_[field]->skip(bytes);
}

SegmentOffsets RepackedSegment::finish() {
  const QuietHdf5 quiet;
  for (const std::unique_ptr<FilteredWriter>& field : fields_) {
    if (field != nullptr) field->finish();
  }
  checked(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "write " + path_);
  fields_.clear();
  file_ = {};
  finished_ = true;
  return offsets_;
}

}  // namespace anadrome::store
