// SPDX-License-Identifier: BSD-2-Clause
#include "objects/objects_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/checked.h"
#include "base/index.h"
#include "store/files/file_system.h"
#include "store/files/format.h"
#include "store/files/hdf5_write.h"
#include "store/files/skeleton.h"

namespace anadrome::store {
namespace {

/// Where the bytes of a part go.
struct Target {
  Objects::Key key;
  const Objects::Part* part;
  std::int64_t offset;
};

// The structure is made by HDF5 in memory; the user's disk sees plain writes only.
std::vector<Target> write_structure(const Objects& objects, const std::string& path,
                                    const std::string& run_id) {
  const QuietHdf5 quiet;
  const Hdf5File file = create_file(path);
  write_attribute(file.get(), kFormatAttribute, kFormatVersion);
  write_attribute(file.get(), "run_id", run_id);
  std::vector<Target> targets;
  for (const Objects::Key key : objects.keys()) {
    const std::string group = "/" + std::to_string(key);
    const Hdf5Group made(
        checked(H5Gcreate2(file.get(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                "create a group"));
    for (const Objects::Part& part : objects.parts(key)) {
      if (part.count == 0) continue;
      const std::array<hsize_t, 1> shape = {static_cast<hsize_t>(part.count)};
      const Hdf5Type type = hdf5_type(part.type);
      const Hdf5Dataset dataset =
          create_table(file.get(), group + "/" + part.name, type.get(), shape);
      const haddr_t offset = H5Dget_offset(dataset.get());
      if (offset == HADDR_UNDEF) throw Error(ANADROME_ERR_IO, "HDF5 gave no place to " + group);
      targets.push_back({key, &part, static_cast<std::int64_t>(offset)});
    }
  }
  write_out(file.get());
  return targets;
}

// What lies in the first page goes to the scratch file, whose first page is copied at the end.
void write_part(Objects& objects, const Target& target, const File& file, const File& scratch) {
  for (std::int64_t done = 0; done < target.part->bytes();) {
    const std::span<const std::byte> run = objects.view(target.key, target.part->name, done);
    const std::int64_t place = target.offset + done;
    const Failure failure = failure_from([&] {
      file.write_all(run.data(), run.size(), place);
      const std::int64_t early = std::min(std::ssize(run), ScratchFile::kFirstPage - place);
      if (early > 0) scratch.write_all(run.data(), size(early), place);
    });
    objects.release(run.data());
    if (failure) throw Error(failure.status, failure.message);
    done += std::ssize(run);
  }
}

}  // namespace

std::string objects_file_name(std::int64_t rank) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "objects-rank-%06lld.h5", static_cast<long long>(rank));
  return name.data();
}

void write_objects_file(Objects& objects, const FilePlace& place, const std::string& run_id) {
  constexpr std::int64_t kObjects = std::int64_t{256} << 10;  // the file's own
  constexpr std::int64_t kPart = 2048;                        // a group and a dataset
  std::int64_t parts = 1, bytes = kObjects;
  for (const Objects::Key key : objects.keys()) {
    parts += 1 + std::ssize(objects.parts(key));
    for (const Objects::Part& part : objects.parts(key)) bytes = checked_add(bytes, part.bytes());
  }
  require_allowed_length(checked_add(bytes, checked_multiply(kPart, parts)));
  const ScratchFile scratch(place);
  const std::vector<Target> targets = write_structure(objects, scratch.path(), run_id);
  // A process that is killed here leaves a file that no reader takes for one of HDF5.
  scratch.publish(place, true, Lasts::kPowerLoss, [&](const File& to) {
    for (const Target& target : targets) write_part(objects, target, to, scratch.file());
    to.sync();  // its failure is told once, and publish takes none from a sync
  });
  try {
    place.open(O_WRONLY).sync();
  } catch (...) {
    place.unlink();
    throw;
  }
}

}  // namespace anadrome::store
