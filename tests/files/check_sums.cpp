// SPDX-License-Identifier: BSD-2-Clause
// check_sums SEGMENT SWEEP FIELD...
//
// Computes /checksum of a kept segment again from the bytes in /slots, with the FIELDs in the order
// of their registration.
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/checksum.h"
#include "store/files/hdf5_owners.h"
#include "store/memory/block_layout.h"
#include "store/moving/transport.h"

namespace {

using namespace anadrome;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "check_sums: %s\n", why.c_str());
  std::exit(1);
}

template <class Id>
Id made(Id id, const std::string& what) {
  if (id < 0) give_up("HDF5 could not " + what);
  return id;
}

template <class Value>
std::vector<Value> read_all(hid_t file, const std::string& path, hid_t type) {
  const Hdf5Dataset dataset(made(H5Dopen2(file, path.c_str(), H5P_DEFAULT), "open " + path));
  const Hdf5Space space(made(H5Dget_space(dataset.get()), "get a dataspace"));
  const auto values = made(H5Sget_simple_extent_npoints(space.get()), "count " + path);
  const Hdf5Type stored(made(H5Dget_type(dataset.get()), "get a type"));
  const std::size_t bytes =
      static_cast<std::size_t>(values) * (type < 0 ? H5Tget_size(stored.get()) : sizeof(Value));
  std::vector<Value> all(bytes / sizeof(Value));
  made(H5Dread(dataset.get(), type < 0 ? stored.get() : type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
               all.data()),
       "read " + path);
  return all;
}

std::int64_t integer_attribute(hid_t file, const char* name) {
  const Hdf5Attribute attribute(made(H5Aopen(file, name, H5P_DEFAULT), name));
  std::int64_t value = 0;
  made(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), name);
  return value;
}

std::string text_attribute(hid_t file, const char* name) {
  const Hdf5Attribute attribute(made(H5Aopen(file, name, H5P_DEFAULT), name));
  const Hdf5Type type(made(H5Aget_type(attribute.get()), name));
  std::string text(H5Tget_size(type.get()), '\0');
  made(H5Aread(attribute.get(), type.get(), text.data()), name);
  return text;
}

// One field of the segment: all its bytes, and the rows of its decomposition table.
struct StoredField {
  std::string name;
  std::int64_t element_bytes = 0;
  std::vector<char> bytes;
  std::vector<std::int64_t> decomposition;  // count, stride, first element, first column per rank
};

StoredField read_field(hid_t file, const std::string& name) {
  StoredField field;
  field.name = name;
  field.bytes = read_all<char>(file, "/slots/" + name, -1);
  field.decomposition = read_all<std::int64_t>(file, "/decomposition/" + name, H5T_NATIVE_INT64);
  const Hdf5Dataset dataset(
      made(H5Dopen2(file, ("/slots/" + name).c_str(), H5P_DEFAULT), "open " + name));
  const Hdf5Type type(made(H5Dget_type(dataset.get()), "get a type"));
  field.element_bytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
  return field;
}

// The layout rank `rank` had, from what the file says about it.
store::BlockLayout layout_of(const std::vector<StoredField>& fields, std::size_t rank,
                             std::int64_t states_per_block) {
  store::BlockShape shape;
  shape.states = states_per_block;
  std::vector<store::Field> described;
  for (const StoredField& field : fields) {
    store::Field entry;
    entry.name = field.name;
    entry.type = ANADROME_BYTE;
    entry.count = field.decomposition[4 * rank] * field.element_bytes;
    const std::int64_t stride = field.decomposition[4 * rank + 1] * field.element_bytes;
    if (stride != round_up(entry.count, 8)) shape.paged = true;
    described.push_back(entry);
  }
  return store::BlockLayout(shape, described);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) give_up("usage: check_sums SEGMENT SWEEP FIELD...");
  const Hdf5File file(made(H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT), "open the segment"));
  const auto used = read_all<std::int64_t>(file.get(), "/slots_used", H5T_NATIVE_INT64).at(0);
  const auto steps = read_all<std::int64_t>(file.get(), "/slot_step", H5T_NATIVE_INT64);
  const auto sums = read_all<std::uint64_t>(file.get(), "/checksum", H5T_NATIVE_UINT64);
  const auto ranks = read_all<std::int64_t>(file.get(), "/ranks", H5T_NATIVE_INT64);
  const std::int64_t states = integer_attribute(file.get(), "states_per_block");
  const std::int64_t first_block = integer_attribute(file.get(), "first_slot") / states;
  const std::int64_t blocks = static_cast<std::int64_t>(steps.size()) / states;
  const std::string run_id = text_attribute(file.get(), "run_id");
  std::vector<StoredField> fields;
  for (int a = 3; a < argc; ++a) fields.push_back(read_field(file.get(), argv[a]));

  store::Transfer transfer;
  store::BlockIdentity& identity = transfer.identity;
  identity.run_id_low = hash_of(run_id);
  identity.run_id_high = hash_of(run_id + "'");
  identity.sweep = read_all<std::int64_t>(file.get(), "/sweep", H5T_NATIVE_INT64).at(0);
  if (identity.sweep != std::atoll(argv[2])) give_up("/sweep is wrong");
  std::int64_t compared = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const store::BlockLayout layout = layout_of(fields, rank, states);
    for (std::int64_t block = 0; block * states < used; ++block) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(layout.block_bytes()));
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::int64_t first = fields[f].decomposition[4 * rank + 2] * fields[f].element_bytes +
                                   block * layout.part_bytes(f);
        if (layout.part_bytes(f) == 0) continue;
        std::memcpy(bytes.data() + layout.parts()[f].offset, fields[f].bytes.data() + first,
                    static_cast<std::size_t>(layout.part_bytes(f)));
      }
      identity.block = first_block + block;
      identity.first_step = steps[static_cast<std::size_t>(block * states)];
      identity.states = std::min(states, used - block * states);
      transfer.bytes = bytes.data();
      const Checksum sum = store::checksum_of(layout, transfer);
      const std::size_t at =
          2 * (rank * static_cast<std::size_t>(blocks) + static_cast<std::size_t>(block));
      if (sum.low != sums[at] || sum.high != sums[at + 1]) {
        give_up("the sum of block " + std::to_string(block) + " of rank " +
                std::to_string(ranks[rank]) + " differs");
      }
      ++compared;
    }
  }
  std::printf("%lld sums are right\n", static_cast<long long>(compared));
  return compared > 0 ? 0 : 1;
}
