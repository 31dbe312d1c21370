// SPDX-License-Identifier: BSD-2-Clause
#include "kept_files.h"

#include <hdf5.h>
#include <mpi.h>

#include <filesystem>

#include "store/files/hdf5_owners.h"
#include "store/files/hdf5_write.h"

namespace anadrome::test {
namespace {

// None if it cannot be read.
template <class Word>
std::vector<Word> table(hid_t file, const std::string& path) {
  const Hdf5Dataset dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT));
  if (dataset.get() < 0) return {};
  const Hdf5Space space(H5Dget_space(dataset.get()));
  const hssize_t words = H5Sget_simple_extent_npoints(space.get());
  std::vector<Word> values(static_cast<std::size_t>(words > 0 ? words : 0));
  const herr_t read =
      H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  if (read < 0) values.clear();
  return values;
}

// The states of `kept` on all ranks, one after the other, by field; on rank 0.
std::vector<std::vector<std::uint64_t>> states_of(ModularModel& model,
                                                  const std::vector<std::int64_t>& kept) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(model.comm(), &rank);
  MPI_Comm_size(model.comm(), &ranks);
  const std::size_t fields = model.fields().size();
  std::vector<std::vector<std::uint64_t>> states(fields);
  model.start();
  std::int64_t at = 0;
  for (const std::int64_t step : kept) {
    for (; at < step; ++at) model.step(at);
    for (std::size_t f = 0; f < fields; ++f) {
      const auto words = model.fields()[f];
      std::vector<std::uint64_t> all(words.size() * static_cast<std::size_t>(ranks));
      const int count = static_cast<int>(words.size());
      MPI_Gather(words.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, 0,
                 model.comm());
      states[f].insert(states[f].end(), all.begin(), all.end());
    }
  }
  return states;
}

}  // namespace

std::string fault_of_kept_files(const std::string& directory, ModularModel& model,
                                const std::vector<std::int64_t>& kept) {
  const auto states = states_of(model, kept);
  int rank = 0;
  MPI_Comm_rank(model.comm(), &rank);
  if (rank != 0) return "";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.rfind("segment-0", 0) != 0 && name != "states.h5") return name + " was left";
  }
  const store::QuietHdf5 quiet;
  const Hdf5File file(H5Fopen((directory + "/states.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (file.get() < 0) return "states.h5 cannot be read";
  if (table<std::int64_t>(file.get(), "/slot_step") != kept)
    return "states of other steps are kept";
  for (std::size_t f = 0; f < states.size(); ++f) {
    const std::string path = "/states/x" + std::to_string(f);
    if (table<std::uint64_t>(file.get(), path) != states[f]) return path + " is not what it was";
  }
  return "";
}

}  // namespace anadrome::test
