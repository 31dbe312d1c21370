// job DIRECTORY STEPS [key=value ...] [--rank R] [--kill-operation K | --kill-action K |
// --stop-action K]
//
// A run that ends badly: rank R is killed before its K-th operation on files or action, or stops
// there. Prints its gradient, whether it went on from an earlier job, and its operations and
// actions. Exit code 0, 1 (wrong gradient), 2 (usage), 3 (an error of the library).
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "forwarding_file_system.h"
#include "modular_model.h"

namespace {

using namespace anadrome::test;

struct Plan {
  std::string directory;
  std::int64_t steps = 0;
  std::vector<std::pair<std::string, std::string>> options;
  int rank = 0;
  std::int64_t kill_operation = 0, kill_action = 0, stop_action = 0;

  bool read(int argc, char** argv) {
    if (argc < 3) return false;
    directory = argv[1];
    steps = std::atoll(argv[2]);
    for (int i = 3; i < argc; ++i) {
      const std::string word = argv[i];
      const auto equals = word.find('=');
      if (word.rfind("--", 0) != 0) {
        if (equals == std::string::npos) return false;
        options.push_back({word.substr(0, equals), word.substr(equals + 1)});
        continue;
      }
      if (++i == argc) return false;
      const std::int64_t number = std::atoll(argv[i]);
      if (word == "--rank") {
        rank = static_cast<int>(number);
      } else if (word == "--kill-operation") {
        kill_operation = number;
      } else if (word == "--kill-action") {
        kill_action = number;
      } else if (word == "--stop-action") {
        stop_action = number;
      } else {
        return false;
      }
    }
    return steps > 0;
  }
};

// Counts what touches files, and is killed before one of them.
class DeadlyFileSystem final : public ForwardingFileSystem {
 public:
  explicit DeadlyFileSystem(std::int64_t at) : at_(at) {}
  std::int64_t operations() const { return operations_; }

  int open(const std::string& path, int flags, mode_t mode) override {
    count();
    return real_.open(path, flags, mode);
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t size, off_t offset) override {
    count();
    return real_.write(descriptor, bytes, size, offset);
  }
  ssize_t read(int descriptor, void* bytes, std::size_t size, off_t offset) override {
    count();
    return real_.read(descriptor, bytes, size, offset);
  }
  void start(anadrome::store::FileTransfer& transfer) override {
    count();
    real_.start(transfer);
  }
  int allocate(int descriptor, off_t offset, off_t length) override {
    count();
    return real_.allocate(descriptor, offset, length);
  }
  int truncate(int descriptor, off_t length) override {
    count();
    return real_.truncate(descriptor, length);
  }
  int sync(int descriptor) override {
    count();
    return real_.sync(descriptor);
  }
  int lock(int descriptor) override {
    count();
    return real_.lock(descriptor);
  }
  int make_directory(const std::string& path, mode_t mode) override {
    count();
    return real_.make_directory(path, mode);
  }
  int remove_directory(const std::string& path) override {
    count();
    return real_.remove_directory(path);
  }
  int unlink(const std::string& path) override {
    count();
    return real_.unlink(path);
  }

 private:
  void count() {
    if (++operations_ == at_) ::kill(::getpid(), SIGKILL);
  }
  const std::int64_t at_;
  std::atomic<std::int64_t> operations_{0};
};

int carry_out(const Plan& plan) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool mine = rank == plan.rank;
  const ModelShape shape = {.words = 512, .adjoint_fields = true};
  const std::uint64_t right =
      ModularModel(MPI_COMM_WORLD, shape).gradient_with_every_state_kept(plan.steps);

  DeadlyFileSystem files(mine ? plan.kill_operation : 0);
  ModularModel model(MPI_COMM_WORLD, shape);
  std::int64_t actions = 0;
  model.before_action = [&] {
    ++actions;
    if (mine && actions == plan.kill_action) ::kill(::getpid(), SIGKILL);
    if (!mine || actions != plan.stop_action) return;
    std::fprintf(stderr, "job: process %d stops\n", static_cast<int>(::getpid()));
    ::kill(::getpid(), SIGSTOP);
  };
  anadrome_run* run = nullptr;
  anadrome_status status = anadrome_open(MPI_COMM_WORLD, &run);
  if (status == ANADROME_OK) status = model.add_fields(run);
  if (status == ANADROME_OK) status = anadrome_set(run, "directory", plan.directory.c_str());
  for (const auto& [key, value] : plan.options) {
    if (status == ANADROME_OK) status = anadrome_set(run, key.c_str(), value.c_str());
  }
  SweepResult result;
  result.status = status;
  if (status != ANADROME_OK) result.message = anadrome_last_error();
  if (status == ANADROME_OK) result = sweep(run, model, plan.steps, false);
  if (anadrome_close(&run) != ANADROME_OK && result.status == ANADROME_OK) {
    result.status = ANADROME_ERR_IO;
    result.message = anadrome_last_error();
  }
  if (result.status != ANADROME_OK) {
    std::fprintf(stderr, "job: rank %d: %s: %s\n", rank, anadrome_status_name(result.status),
                 result.message.c_str());
    return 3;
  }
  std::printf("job: rank %d gradient %016llx resumed %d operations %lld actions %lld\n", rank,
              static_cast<unsigned long long>(result.gradient), result.resumed ? 1 : 0,
              static_cast<long long>(files.operations()), static_cast<long long>(actions));
  return result.gradient == right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (!plan.read(argc, argv)) {
    std::fprintf(stderr,
                 "usage: %s DIRECTORY STEPS [key=value ...] [--rank R] [--kill-operation K | "
                 "--kill-action K | --stop-action K]\n",
                 argv[0]);
    return 2;
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = carry_out(plan);
  MPI_Finalize();
  return code;
}
