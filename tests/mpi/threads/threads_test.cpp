// SPDX-License-Identifier: BSD-2-Clause
// threads_test DIRECTORY REPEATS: each of four threads has two runs and two stores of its own, with
// files. They come, go and work at the same time, and every thread gets its bits.
#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#include <mpi.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr std::int64_t kSteps = 40;
constexpr std::size_t kCells = 1500;

void require(anadrome_status status, const char* what) {
  if (status == ANADROME_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, anadrome_last_error());
  std::_Exit(1);
}

// dx/dt = x - x^3, pushed by a number of the thread's own.
double gradient(anadrome_run* run, std::vector<double>& x, int thread) {
  std::vector<double> lambda(kCells);
  for (std::size_t i = 0; i < kCells; ++i) x[i] = 0.2 + 1e-3 * static_cast<double>(i % 97);
  const auto step = [&](std::int64_t k) {
    for (double& each : x)
      each += 1e-2 * (each - each * each * each + 1e-3 * static_cast<double>(k % 7 + thread));
  };
  const auto adjoint = [&] {
    for (std::size_t i = 0; i < kCells; ++i) lambda[i] *= 1 + 1e-2 * (1 - 3 * x[i] * x[i]);
  };
  if (run == nullptr) {  // every state at hand
    std::vector<std::vector<double>> states;
    for (std::int64_t k = 0; k < kSteps; ++k) {
      states.push_back(x);
      step(k);
    }
    lambda = x;
    for (std::int64_t k = kSteps; k-- > 0;) {
      x = states[static_cast<std::size_t>(k)];
      adjoint();
    }
  } else {
    require(anadrome_begin(run, kSteps), "begin");
    anadrome_action action{};
    for (;;) {
      require(anadrome_next(run, &action), "next");
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k) step(k);
      }
      if (action.kind == ANADROME_TURN) lambda = x;
      if (action.kind == ANADROME_ADJOINT) adjoint();
    }
  }
  double sum = 0;
  for (const double each : lambda) sum += each;
  return sum;
}

class Worker {
 public:
  Worker(int thread, MPI_Comm comm, std::string directory)
      : thread_(thread), comm_(comm), directory_(std::move(directory)), x_(kCells) {}

  void work(int repeats) {
    const double expected = gradient(nullptr, x_, thread_);
    for (int i = 0; i < repeats; ++i) {
      for (const char* options :
           {"schedule=async interval=3 compress=lz4", "schedule=async keep=on"}) {
        if (sweep(i, options) == expected) continue;
        std::fprintf(stderr, "thread %d: another gradient\n", thread_);
        std::_Exit(1);
      }
      for (const char* options : {"", " keep=on"}) put_and_get(i, options);
    }
  }

 private:
  std::string name(const char* of, int i) const {
    return of + std::to_string(thread_) + "-" + std::to_string(i);
  }

  double sweep(int i, const std::string& options) {
    anadrome_run* run = nullptr;
    require(anadrome_open(comm_, &run), "open");
    std::string word;
    for (const char c : "memory=200KiB directory=" + directory_ +
                            " name=" + name(options.ends_with("on") ? "kept" : "run", i) + " " +
                            options + " ") {
      if (c != ' ') {
        word += c;
        continue;
      }
      const std::size_t equals = word.find('=');
      require(anadrome_set(run, word.substr(0, equals).c_str(), word.substr(equals + 1).c_str()),
              "set");
      word.clear();
    }
    require(anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x_.data(), kCells),
            "add_field");
    const double found = gradient(run, x_, thread_);
    require(anadrome_close(&run), "close");
    return found;
  }

  void put_and_get(int i, const std::string& options) {
    anadrome_store* store = nullptr;
    const std::string all = "memory=400KiB directory=" + directory_ +
                            " name=" + name(options.empty() ? "store" : "left", i) + options;
    require(anadrome_store_open(comm_, all.c_str(), &store), "store_open");
    const anadrome_part part = {"x", ANADROME_FLOAT64, kCells, x_.data()};
    for (int key = 0; key < 60; ++key) {
      for (std::size_t c = 0; c < kCells; ++c) x_[c] = key + thread_ * static_cast<double>(c);
      require(anadrome_store_put(store, key, 1, &part), "put");
    }
    for (int key = 60; key-- > 0;) {
      require(anadrome_store_get(store, key, 1, &part), "get");
      for (std::size_t c = 0; c < kCells; ++c) {
        if (x_[c] == key + thread_ * static_cast<double>(c)) continue;
        std::fprintf(stderr, "thread %d: object %d is another one\n", thread_, key);
        std::_Exit(1);
      }
      if (key % 2 != 0) require(anadrome_store_drop(store, key), "drop");
    }
    require(anadrome_store_close(&store), "store_close");
  }

  const int thread_;
  const MPI_Comm comm_;
  const std::string directory_;
  std::vector<double> x_;
};

// One thread at a time may use parallel HDF5: the others are told, and wait for nobody.
void refuse_collective_hdf5_in_two_threads(const std::string& directory, MPI_Comm comm) {
  std::vector<double> x(kCells);
  const auto begin = [&](const char* name, anadrome_run*& run) {
    require(anadrome_open(comm, &run), "open");
    for (const auto& [key, value] : {std::pair("memory", "200KiB"),
                                     {"schedule", "async"},
                                     {"transport", "mpio"},
                                     {"directory", directory.c_str()},
                                     {"name", name}}) {
      require(anadrome_set(run, key, value), "set");
    }
    require(anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), kCells),
            "add_field");
    return anadrome_begin(run, kSteps);
  };
  anadrome_run *first = nullptr, *second = nullptr;
  require(begin("first", first), "begin with mpio");
  anadrome_status status = ANADROME_OK;
  std::thread([&] {
    status = begin("second", second);
    anadrome_close(&second);
  }).join();
  if (status != ANADROME_ERR_UNSUPPORTED) {
    std::fprintf(stderr, "mpio in a second thread: status %d\n", status);
    std::_Exit(1);
  }
  anadrome_close(&first);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 3 || provided != MPI_THREAD_MULTIPLE) return 2;
  std::string directory = std::string(argv[1]) + "/threads.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 2;
  if (ANADROME_TEST_MPI) refuse_collective_hdf5_in_two_threads(directory, MPI_COMM_WORLD);
  std::vector<MPI_Comm> comms(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[static_cast<std::size_t>(t)]);
    threads.emplace_back([&, t, comm = comms[static_cast<std::size_t>(t)]] {
      Worker(t, comm, directory).work(std::atoi(argv[2]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  std::filesystem::remove_all(directory);
  MPI_Finalize();
  return 0;
}
