// SPDX-License-Identifier: BSD-2-Clause
// read_in_parallel SEGMENT DUMP
//
// Opens a kept shared segment with HDF5's MPI driver, on any number of ranks, and reads /slots/u
// collectively: each rank the same share of every state, wherever the ranks that wrote it put the
// pieces. Compares with DUMP, in which the states x_0, x_1, ... follow each other.
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 1;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "read_in_parallel: rank %d: %s\n", rank, why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

template <class Id>
Id made(Id id, const char* what) {
  if (id < 0) give_up(std::string("HDF5 could not ") + what);
  return id;
}

std::vector<std::int64_t> read_integers(hid_t file, const char* path) {
  const hid_t dataset = made(H5Dopen2(file, path, H5P_DEFAULT), path);
  const hid_t space = made(H5Dget_space(dataset), path);
  std::vector<std::int64_t> values(
      static_cast<std::size_t>(made(H5Sget_simple_extent_npoints(space), path)));
  made(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

// The part of one writer in this reader's columns.
struct Piece {
  std::int64_t first_element;  // of slot 0, in /slots/u
  std::int64_t stride;         // elements from one slot to the next
  std::int64_t column;         // of the global state
  std::int64_t count;
};

// The pieces of the columns [begin, end), in the order in which they lie in the file.
std::vector<Piece> pieces_of(const std::vector<std::int64_t>& decomposition, std::int64_t begin,
                             std::int64_t end) {
  std::vector<Piece> pieces;
  for (std::size_t row = 0; row < decomposition.size(); row += 4) {
    const std::int64_t count = decomposition[row], stride = decomposition[row + 1];
    const std::int64_t first = decomposition[row + 2], column = decomposition[row + 3];
    const std::int64_t from = std::max(begin, column), to = std::min(end, column + count);
    if (from < to) pieces.push_back({first + from - column, stride, from, to - from});
  }
  return pieces;
}

std::vector<double> read_slots(hid_t file, const std::vector<Piece>& pieces, hsize_t slots) {
  const hid_t dataset = made(H5Dopen2(file, "/slots/u", H5P_DEFAULT), "open /slots/u");
  const hid_t place = made(H5Dget_space(dataset), "get a dataspace");
  made(H5Sselect_none(place), "select nothing");
  hsize_t values = 0;
  for (const Piece& piece : pieces) {
    const auto start = static_cast<hsize_t>(piece.first_element);
    const auto stride = static_cast<hsize_t>(piece.stride);
    const auto block = static_cast<hsize_t>(piece.count);
    made(H5Sselect_hyperslab(place, H5S_SELECT_OR, &start, &stride, &slots, &block), "select");
    values += slots * block;
  }
  std::vector<double> all(std::max<hsize_t>(values, 1));
  const hsize_t length = all.size();
  const hid_t memory = made(H5Screate_simple(1, &length, nullptr), "create a dataspace");
  if (values == 0) made(H5Sselect_none(memory), "select nothing");
  const hid_t transfer = made(H5Pcreate(H5P_DATASET_XFER), "create properties");
  made(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "ask for a collective transfer");
  made(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, place, transfer, all.data()), "read /slots/u");
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(place);
  H5Dclose(dataset);
  all.resize(values);
  return all;
}

void compare(const char* dump, std::int64_t width, const std::vector<std::int64_t>& steps,
             const std::vector<Piece>& pieces, const std::vector<double>& values) {
  const int descriptor = ::open(dump, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) give_up(std::string("cannot open ") + dump);
  auto at = values.begin();
  for (const Piece& piece : pieces) {
    std::vector<double> expected(static_cast<std::size_t>(piece.count));
    for (const std::int64_t step : steps) {
      const ssize_t bytes = static_cast<ssize_t>(expected.size() * sizeof(double));
      if (::pread(descriptor, expected.data(), static_cast<std::size_t>(bytes),
                  (step * width + piece.column) * 8) != bytes) {
        give_up("the dump is too short");
      }
      if (std::memcmp(expected.data(), &*at, static_cast<std::size_t>(bytes)) != 0) {
        give_up("step " + std::to_string(step) + " differs from column " +
                std::to_string(piece.column) + " on");
      }
      at += piece.count;
    }
  }
  ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) give_up("usage: read_in_parallel SEGMENT DUMP");
  const hid_t access = made(H5Pcreate(H5P_FILE_ACCESS), "create properties");
  made(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "choose the MPI driver");
  const hid_t file = made(H5Fopen(argv[1], H5F_ACC_RDONLY, access), "open the segment");
  const std::vector<std::int64_t> decomposition = read_integers(file, "/decomposition/u");
  const std::int64_t used = read_integers(file, "/slots_used").at(0);
  std::vector<std::int64_t> steps = read_integers(file, "/slot_step");
  if (used < 1 || used > static_cast<std::int64_t>(steps.size())) give_up("no slot is in use");
  steps.resize(static_cast<std::size_t>(used));
  std::int64_t width = 0;
  for (std::size_t row = 0; row < decomposition.size(); row += 4) width += decomposition[row];

  const std::vector<Piece> pieces =
      pieces_of(decomposition, width * rank / ranks, width * (rank + 1) / ranks);
  const std::vector<double> values = read_slots(file, pieces, static_cast<hsize_t>(used));
  compare(argv[2], width, steps, pieces, values);

  H5Fclose(file);
  H5Pclose(access);
  std::int64_t compared = static_cast<std::int64_t>(values.size()), all = 0;
  MPI_Reduce(&compared, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all != used * width) give_up("not every value was read");
  if (rank == 0)
    std::printf("%lld values of %lld states are the same\n", static_cast<long long>(all),
                static_cast<long long>(used));
  MPI_Finalize();
  return 0;
}
