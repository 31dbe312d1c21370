// SPDX-License-Identifier: BSD-2-Clause
// `anadrome verify` of the numbers in a segment, under libFuzzer. The HDF5 library is left out: it
// reads files in a process of its own. In its place stands a file that would be right, some of
// whose numbers the input replaces. A finding or a verdict, whatever they are.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "forwarding_file_system.h"
#include "store/files/file_system.h"
#include "tool/runs/segments/hdf5_read.h"
#include "tool/runs/segments/isolated.h"
#include "tool/runs/segments/segment_check.h"

namespace {

using namespace anadrome;

std::string a_file;  // any regular one: its length is the segment's

// The numbers of a segment, in the order in which they are asked for.
class Numbers {
 public:
  Numbers(const std::uint8_t* bytes, std::size_t size) {
    const auto small = [&](std::int64_t most) {
      if (size == 0) return std::int64_t{1};
      --size;
      return 1 + *bytes++ % most;
    };
    ranks = small(3);
    blocks = small(4);
    states_per_block = small(3);
    fields = small(3);
    elements = small(40);
    while (size >= 1 + sizeof(std::int64_t)) {
      std::memcpy(&replaced_[*bytes], bytes + 1, sizeof(std::int64_t));
      bytes += 1 + sizeof(std::int64_t);
      size -= 1 + sizeof(std::int64_t);
    }
  }
  std::int64_t next(std::int64_t right) {
    const auto found = replaced_.find(static_cast<std::uint8_t>(asked_++));
    return found == replaced_.end() ? right : found->second;
  }
  std::int64_t slots() const { return blocks * states_per_block; }

  std::int64_t ranks, blocks, states_per_block, fields, elements;

 private:
  std::map<std::uint8_t, std::int64_t> replaced_;
  std::int64_t asked_ = 0;
};
Numbers* numbers = nullptr;

// Bytes without a file behind them.
class Bytes final : public test::ForwardingFileSystem {
 public:
  int open(const std::string&, int, mode_t) override { return 1000; }
  int close(int) override { return 0; }
  ssize_t read(int, void* bytes, std::size_t count, off_t offset) override {
    if (offset < 0) return -EINVAL;
    std::memset(bytes, 7, count);
    return static_cast<ssize_t>(count);
  }
};

}  // namespace

namespace anadrome::tool {

std::string in_child(const std::string&, std::int64_t, const std::function<std::string()>& body) {
  return body();
}

void require(bool condition, const std::string& problem) {
  if (!condition) throw Error(ANADROME_ERR_CORRUPT, problem);
}

Hdf5File open_hdf5(const std::string&) { return Hdf5File(); }

std::int64_t integer_attribute(hid_t, const char* name) {
  const std::string asked = name;
  return numbers->next(asked == "anadrome_format"    ? 1
                       : asked == "states_per_block" ? numbers->states_per_block
                                                     : 0);
}

std::string text_attribute(hid_t, const char*) { return "text"; }

std::vector<std::string> names_in(hid_t, const std::string&) {
  return {static_cast<std::size_t>(numbers->fields), "u"};
}

DatasetPlace place_of(hid_t, const std::string& path, std::int64_t file_bytes) {
  constexpr std::int64_t kBytes = 8;
  const DatasetPlace place{numbers->next(4096),
                           numbers->next(numbers->ranks * numbers->elements * numbers->slots()),
                           kBytes};
  if (place.offset < 0 || place.offset > file_bytes || place.elements < 0 ||
      place.elements > (file_bytes - place.offset) / kBytes) {
    throw Error(ANADROME_ERR_CORRUPT, path);
  }
  return place;
}

std::vector<std::int64_t> integer_table(hid_t, const std::string& path, std::int64_t most_bytes) {
  const bool decomposition = path.starts_with("/decomposition/");
  const std::int64_t length =
      numbers->next(decomposition          ? 4 * numbers->ranks
                    : path == "/ranks"     ? numbers->ranks
                    : path == "/slot_step" ? numbers->slots()
                    : path == "/checksum"  ? 2 * numbers->ranks * numbers->blocks
                                           : 1);
  if (length < 0 || length > most_bytes / 8 || length > 1000) {
    throw Error(ANADROME_ERR_CORRUPT, path);
  }
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t rank = i / 4;
    values.push_back(numbers->next(!decomposition ? (path == "/slots_used" ? numbers->slots() : i)
                                   : i % 4 == 2   ? rank * numbers->elements * numbers->slots()
                                   : i % 4 == 3   ? 0
                                                  : numbers->elements));
  }
  return values;
}

}  // namespace anadrome::tool

extern "C" int LLVMFuzzerInitialize(int*, char*** words) {
  a_file = (*words)[0];
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Bytes file;
  Numbers all(bytes, size);
  numbers = &all;
  const auto report = tool::check_segment(a_file, true, tool::Depth::kBytes);
  // Its bytes are not those that were summed: what was looked at cannot be right.
  if (report.problems.empty() && report.blocks_checked != 0) std::abort();
  return 0;
}
