// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "store/files/file_system.h"
#include "tool/runs/segments/segment_check.h"
#include "tool/runs/segments/segment_description.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;

constexpr std::int64_t kPiece = std::int64_t{4} << 20;

struct SegmentFile {
  std::string name;
  SegmentDescription description;
};

// One rank's part of every row that a view shows of a segment.
struct Part {
  const SegmentFile* file;
  const StoredField* field;
  std::size_t place;  ///< of the rank in its file
  std::int64_t rank() const { return file->description.ranks[place]; }
  std::int64_t count() const { return field->rows[4 * place]; }
};

// Rows of a view that lie in one segment: its used slots, and the ranks in order.
struct Rows {
  std::int64_t count = 0;
  std::vector<Part> parts;
};

void add_parts(const SegmentFile& file, const std::string& field, std::vector<Part>& parts) {
  for (const StoredField& stored : file.description.fields) {
    if (stored.name != field) continue;
    for (std::size_t r = 0; r < file.description.ranks.size(); ++r) {
      parts.push_back({&file, &stored, r});
    }
  }
}

// Whoever reads through it must meet no file but the run's own: of others HDF5 shows zeros, or what
// they hold.
void require_own_files(hid_t dataset, const std::string& path, const std::set<std::string>& own) {
  const Hdf5Properties creation(H5Dget_create_plist(dataset));
  require(H5Pget_layout(creation.get()) == H5D_VIRTUAL, path + " is no virtual dataset");
  std::size_t pieces = 0;
  require(H5Pget_virtual_count(creation.get(), &pieces) >= 0, path + " cannot be read");
  for (std::size_t i = 0; i < pieces; ++i) {
    std::array<char, 256> name{};
    const ssize_t length = H5Pget_virtual_filename(creation.get(), i, name.data(), name.size());
    require(length > 0 && length < static_cast<ssize_t>(name.size()), path + " cannot be read");
    require(own.count(name.data()) > 0,
            path + " shows states of " + name.data() + ", which is not here");
  }
}

class View {
 public:
  View(hid_t file, const std::string& directory, std::string path, const std::set<std::string>& own)
      : directory_(directory), path_(std::move(path)) {
    dataset_ = Hdf5Dataset(H5Dopen2(file, path_.c_str(), H5P_DEFAULT));
    require(dataset_.get() >= 0, path_ + " is missing");
    require_own_files(dataset_.get(), path_, own);
    type_ = Hdf5Type(H5Dget_type(dataset_.get()));
    space_ = Hdf5Space(H5Dget_space(dataset_.get()));
    require(H5Sget_simple_extent_ndims(space_.get()) == 2, path_ + " has another shape");
    H5Sget_simple_extent_dims(space_.get(), shape_.data(), nullptr);
  }

  // Are its rows from `first` on these?
  void compare(std::int64_t first, const Rows& rows) {
    std::int64_t width = 0;
    for (const Part& part : rows.parts) width += part.count();
    if (width == 0 || rows.count == 0) return;
    const std::int64_t bytes = rows.parts.front().field->place.element_bytes;
    require(static_cast<std::int64_t>(H5Tget_size(type_.get())) == bytes &&
                static_cast<std::int64_t>(shape_[1]) == width &&
                static_cast<std::int64_t>(shape_[0]) >= first + rows.count,
            path_ + " has another shape");
    const std::int64_t columns = std::min(width, std::max<std::int64_t>(1, kPiece / bytes));
    const std::int64_t at_once = std::max<std::int64_t>(1, kPiece / (columns * bytes));
    for (std::int64_t row = 0; row < rows.count; row += at_once) {
      for (std::int64_t column = 0; column < width; column += columns) {
        compare_piece(first, rows, {row, std::min(at_once, rows.count - row)},
                      {column, std::min(columns, width - column)}, bytes);
      }
    }
  }

  void require_rows(std::int64_t rows) const {
    require(static_cast<std::int64_t>(shape_[0]) == rows, path_ + " has another shape");
  }

 private:
  struct Range {
    std::int64_t first, count;
  };

  void compare_piece(std::int64_t first, const Rows& rows, const Range& of_rows,
                     const Range& of_columns, std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(of_rows.count * of_columns.count * bytes);
    shown_.assign(size, 0);
    const std::array<hsize_t, 2> from = {static_cast<hsize_t>(first + of_rows.first),
                                         static_cast<hsize_t>(of_columns.first)};
    const std::array<hsize_t, 2> count = {static_cast<hsize_t>(of_rows.count),
                                          static_cast<hsize_t>(of_columns.count)};
    H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr);
    const Hdf5Space memory(H5Screate_simple(2, count.data(), nullptr));
    require(H5Dread(dataset_.get(), type_.get(), memory.get(), space_.get(), H5P_DEFAULT,
                    shown_.data()) >= 0,
            path_ + " cannot be read");
    const char* at = shown_.data();
    for (std::int64_t row = of_rows.first; row < of_rows.first + of_rows.count; ++row) {
      std::int64_t column = 0;  // where the part begins
      for (const Part& part : rows.parts) {
        const std::int64_t begin = std::max(column, of_columns.first);
        const std::int64_t end =
            std::min(column + part.count(), of_columns.first + of_columns.count);
        if (begin < end) {
          compare_part(part, row, begin - column, (end - begin) * bytes, at);
          at += (end - begin) * bytes;
        }
        column += part.count();
      }
    }
  }

  void compare_part(const Part& part, std::int64_t slot, std::int64_t element, std::int64_t bytes,
                    const char* shown) {
    if (raw_name_ != part.file->name) {
      raw_ = SegmentBytes(directory_ + "/" + part.file->name);
      raw_name_ = part.file->name;
    }
    held_.resize(static_cast<std::size_t>(bytes));
    raw_.read(*part.field,
              part.field->byte_of(part.place, slot) + element * part.field->place.element_bytes,
              held_.data(), held_.size());
    const auto step = part.file->description.steps[static_cast<std::size_t>(slot)];
    require(std::memcmp(held_.data(), shown, held_.size()) == 0,
            path_ + " does not show x_" + std::to_string(step) + " of rank " +
                std::to_string(part.rank()) + " as " + part.file->name + " holds it");
  }

  const std::string& directory_;
  const std::string path_;
  Hdf5Dataset dataset_;
  Hdf5Type type_;
  Hdf5Space space_;
  std::array<hsize_t, 2> shape_ = {};
  std::vector<char> shown_, held_;
  std::string raw_name_;
  SegmentBytes raw_;
};

// A pipe of that name must not make this wait.
std::int64_t length_of_file(const std::string& path) {
  struct stat status {};
  require(::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode),
          path + " is no regular file");
  return status.st_size;
}

bool is_segment(const std::string& name) {
  return name.starts_with("segment-") && !name.starts_with("segment-copy");
}

SegmentFile read_segment(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const std::int64_t bytes = length_of_file(path);
  const Hdf5File file = open_hdf5(path);
  return {name, read_description(file.get(), bytes, true)};
}

void check_segment_views(const std::string& directory, const SegmentFile& segment) {
  const Hdf5File file = open_hdf5(directory + "/" + segment.name);
  for (const StoredField& field : segment.description.fields) {
    Rows rows{segment.description.used, {}};
    add_parts(segment, field.name, rows.parts);
    View view(file.get(), directory, "/states/" + field.name, {".", segment.name});
    view.compare(0, rows);
  }
}

void check_master_views(const std::string& directory, const std::vector<SegmentFile>& segments) {
  std::map<std::int64_t, std::vector<const SegmentFile*>> by_number;
  std::set<std::string> own, fields;
  for (const SegmentFile& segment : segments) {
    by_number[segment.description.number].push_back(&segment);
    own.insert(segment.name);
    for (const StoredField& field : segment.description.fields) fields.insert(field.name);
  }
  length_of_file(directory + "/states.h5");
  const Hdf5File file = open_hdf5(directory + "/states.h5");
  for (const std::string& field : fields) {
    std::vector<Rows> all;
    std::int64_t used = 0;
    for (const auto& [number, of_number] : by_number) {
      Rows& rows = all.emplace_back();
      rows.count = of_number.front()->description.used;
      used += rows.count;
      for (const SegmentFile* segment : of_number) add_parts(*segment, field, rows.parts);
      std::sort(rows.parts.begin(), rows.parts.end(),
                [](const Part& a, const Part& b) { return a.rank() < b.rank(); });
    }
    if (used == 0) continue;
    View view(file.get(), directory, "/states/" + field, own);
    view.require_rows(used);
    std::int64_t first = 0;
    for (const Rows& rows : all) {
      view.compare(first, rows);
      first += rows.count;
    }
  }
}

// The problem of a file; empty: there is none.
std::string problem_of(const std::string& name, std::int64_t seconds,
                       const std::function<void()>& check) {
  try {
    const auto found = [&] { return json(failure_from(check).message); };
    return json_from_child(name, seconds, found).get<std::string>();
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::map<std::string, std::string> check_views(const std::string& directory,
                                               const std::vector<std::string>& files) {
  std::map<std::string, std::string> wrong;
  std::vector<std::string> segments;
  std::int64_t bytes = 0;
  for (const std::string& name : files) {
    struct stat status {};
    if (::lstat((directory + "/" + name).c_str(), &status) == 0) bytes += status.st_size;
    if (is_segment(name)) segments.push_back(name);
  }
  const std::int64_t seconds = 20 + bytes / 20000000;  // to read all twice on a slow disk, and more
  const auto check = [&](const std::string& name, const std::function<void()>& body) {
    const std::string problem = problem_of(name, seconds, body);
    if (!problem.empty()) wrong[name] = problem;
  };
  for (const std::string& name : segments) {
    check(name, [&] { check_segment_views(directory, read_segment(directory, name)); });
  }
  if (!wrong.empty()) return wrong;  // the master shows what these hold
  check("states.h5", [&] {
    std::vector<SegmentFile> all;
    for (const std::string& name : segments) all.push_back(read_segment(directory, name));
    check_master_views(directory, all);
  });
  return wrong;
}

}  // namespace anadrome::tool
