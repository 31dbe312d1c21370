// SPDX-License-Identifier: BSD-2-Clause
// busy_sweep DIRECTORY
//
// An application at MPI_THREAD_FUNNELED that uses parallel HDF5 and MPI of its own in every step,
// while anadrome writes each state to disk and reads it back.
#include <anadrome/anadrome.h>
#include <hdf5.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kSteps = 60;
constexpr std::size_t kCount = 40000;

void require(bool fine, const std::string& what) {
  if (fine) return;
  std::fprintf(stderr, "busy_sweep: %s failed: %s\n", what.c_str(), anadrome_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Collective output of the application's own, through the same HDF5 library.
void write_output(hid_t file, const std::string& name, int rank, int ranks,
                  const std::vector<double>& values) {
  const hsize_t all = kCount * static_cast<hsize_t>(ranks);
  const hsize_t first = kCount * static_cast<hsize_t>(rank), count = kCount;
  const hid_t space = H5Screate_simple(1, &all, nullptr);
  const hid_t memory = H5Screate_simple(1, &count, nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  const herr_t written =
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, values.data());
  require(written >= 0, "H5Dwrite");
  H5Pclose(transfer);
  H5Dclose(dataset);
  H5Sclose(memory);
  H5Sclose(space);
}

class Application {
 public:
  Application(const std::string& directory, anadrome_run* run) : run_(run), values_(kCount) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ = H5Fcreate((directory + "/output.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    require(file_ >= 0, "H5Fcreate");
    H5Pclose(access);
    for (std::size_t i = 0; i < kCount; ++i) values_[i] = start(i);
  }
  ~Application() { H5Fclose(file_); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  void sweep() {
    require(anadrome_add_field(run_, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, values_.data(),
                               kCount) == ANADROME_OK,
            "add_field");
    require(anadrome_begin(run_, kSteps) == ANADROME_OK, "begin");
    anadrome_action action;
    for (;;) {
      require(anadrome_next(run_, &action) == ANADROME_OK, "next");
      if (action.kind == ANADROME_DONE) return;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k) step();
      } else if (action.kind == ANADROME_ADJOINT) {
        output("adjoint");
        for (std::size_t i = 0; i < kCount; i += 97) {
          require(values_[i] == start(i) + static_cast<double>(action.first), "a restore");
        }
      }
    }
  }

 private:
  static double start(std::size_t i) { return static_cast<double>(i % 1000) * 0.25; }

  void step() {
    for (double& value : values_) value += 1;
    output("step");
    double largest = values_.back();
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }

  void output(const char* name) {
    write_output(file_, name + std::to_string(++outputs_), rank_, ranks_, values_);
  }

  anadrome_run* run_;
  std::vector<double> values_;
  int rank_ = 0, ranks_ = 1;
  hid_t file_ = -1;
  int outputs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc < 2) return 2;
  anadrome_run* run = nullptr;
  require(anadrome_open(MPI_COMM_WORLD, &run) == ANADROME_OK, "open");
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"schedule", "async"}, {"interval", "1"}, {"memory", "2MiB"}, {"directory", argv[1]}}) {
    require(anadrome_set(run, key, value) == ANADROME_OK, key);
  }
  Application(argv[1], run).sweep();
  anadrome_stats stats{};
  stats.size = sizeof stats;
  anadrome_statistics(run, &stats);
  require(stats.bytes_written > 0 && stats.bytes_read > 0, "using the disk");
  require(anadrome_close(&run) == ANADROME_OK, "close");
  MPI_Finalize();
  return 0;
}
