// SPDX-License-Identifier: BSD-2-Clause
// DiskSpace, the part for keep=on: files that readers of HDF5 find complete.
#include <fcntl.h>

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "base/index.h"
#include "engine/disk/disk_space.h"
#include "store/directory/run_files.h"
#include "store/files/master.h"

namespace anadrome::engine {
namespace {

constexpr const char* kMasterName = "states.h5";

}  // namespace

Failure DiskSpace::keep(const schedule::AnchorList& anchors, std::int64_t anchors_written,
                        std::span<const std::uint64_t> checksums, std::int64_t sweep,
                        std::int64_t steps, const char* schedule_name) {
  Failure failure = failure_from([&] { write_tables(anchors, anchors_written, checksums, sweep); });
  const Failure master = write_master(anchors, anchors_written, steps, schedule_name);
  if (!failure) failure = master;
  const bool copied = copy_.has_value();
  release();
  MPI_Barrier(file_comm_.get());  // nobody has the copy open any more
  const Failure gone = failure_from([&] {
    if (copied && file_rank_ == 0) store::RunFiles::remove_one(held_, copy_name());
  });
  const Failure left = failure_from([&] { directory_.keep(); });
  return failure ? failure : left ? left : gone;
}

// The states' steps and sums go straight to their places: no HDF5 call touches the user's disk.
void DiskSpace::write_tables(const schedule::AnchorList& anchors, std::int64_t anchors_written,
                             std::span<const std::uint64_t> checksums, std::int64_t sweep) const {
  for (const store::Segment& segment : segments_) {
    const store::File file = segment.place().open(O_WRONLY);
    if (store::id_of(file) != store::id_of(segment.file()))
      throw Error(ANADROME_ERR_IO, segment.path() + " is another file by now, and stays as it is");
    const auto& [number, first_block, blocks] = segment.range();
    const std::int64_t first = first_block * layout_.states();
    const std::int64_t used =
        std::clamp<std::int64_t>(anchors_written - first, 0, blocks * layout_.states());
    const std::int64_t used_blocks = ceil_divide(used, layout_.states());
    if (used_blocks > 0) {
      file.write_all(
          checksums.data() + 2 * first_block, size(used_blocks) * 2 * sizeof(std::uint64_t),
          segment.offsets().checksum +
              file_rank_ * blocks * 2 * static_cast<std::int64_t>(sizeof(std::uint64_t)));
    }
    if (file_rank_ != 0) {
      file.sync();
      continue;
    }
    file.write_all(&sweep, sizeof sweep, segment.offsets().sweep);
    file.write_all(&used, sizeof used, segment.offsets().slots_used);
    std::vector<std::int64_t> steps;
    constexpr std::int64_t kChunk = 4096;
    for (std::int64_t at = 0; at < used; at += kChunk) {
      steps.clear();
      for (std::int64_t i = at; i < std::min(used, at + kChunk); ++i) {
        steps.push_back(anchors.step(first + i));
      }
      file.write_all(steps.data(), steps.size() * sizeof(std::int64_t),
                     segment.offsets().slot_step + at * static_cast<std::int64_t>(sizeof at));
    }
    file.sync();  // what a page cache took may still fail, and close says whether files are whole
  }
}

Failure DiskSpace::write_master(const schedule::AnchorList& anchors, std::int64_t anchors_written,
                                std::int64_t steps, const char* schedule_name) {
  const bool root = agreement_.rank() == 0;
  const auto ranks = size(root ? agreement_.size() : 0);
  store::MasterDescription master;
  Failure no_memory = failure_from([&] {
    master.run_id = run_id_;
    master.schedule = schedule_name;
    master.steps = steps;
    for (const store::Field& field : fields_) {
      master.fields.push_back({field.name, field.type, std::vector<store::MasterPart>(ranks)});
    }
  });
  std::array<std::int64_t, 2> most = {file_index_ + 1, no_memory ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, agreement_.comm());
  if (most[1] != 0) return no_memory;
  const std::int64_t files = most[0];
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const store::MasterPart mine = {
        fields_[f].count, layout_.parts()[f].stride / store::element_bytes(fields_[f].type),
        strides_before_[f], file_index_};
    static_assert(sizeof mine == 4 * sizeof(std::int64_t));
    MPI_Gather(&mine, 4, MPI_INT64_T, master.fields[f].parts.data(), 4, MPI_INT64_T, 0,
               agreement_.comm());
  }
  if (!root) return {};
  return failure_from([&] {
    for (const store::Segment& segment : segments_) {
      store::MasterSegment entry;
      for (std::int64_t i = 0; i < files; ++i) {
        entry.files.push_back(segment_name(segment.range().number, i));
      }
      entry.slots = segment.range().blocks * layout_.states();
      entry.slots_used = std::clamp<std::int64_t>(
          anchors_written - segment.range().first_block * layout_.states(), 0, entry.slots);
      master.segments.push_back(std::move(entry));
    }
    for (std::int64_t i = 0; i < anchors_written; ++i) master.slot_steps.push_back(anchors.step(i));
    store::RunFiles::remove_one(held_, kMasterName);  // an earlier sweep's
    const store::FilePlace place = {held_, kMasterName};
    store::create_master(place, master);
    place.open(O_RDONLY).sync();
    held_.sync();
  });
}

}  // namespace anadrome::engine
