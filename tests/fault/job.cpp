// SPDX-License-Identifier: BSD-2-Clause
// job DIRECTORY STEPS [key=value ...] [--rank R] [--kill-operation K | --kill-action K]
//     [--stop-begin K] [--stop-operation K] [--stop-action K] [--stop-close K] [--sparse 1] ...
//
// A run that ends badly: rank R is killed before its K-th operation on files or action. It stops
// before each K-th of those, or of the calls of begin and close, that is given. A sparse state can
// be compressed. Prints its gradient, whether it went on from an earlier job, its operations and
// actions. Exit code 0, 1 (wrong gradient), 2 (usage), 3 (an error of the library).
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
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
  std::map<std::string, std::set<std::int64_t>> numbers;  ///< that follow --word

  bool read(int argc, char** argv) {
    if (argc < 3) return false;
    directory = argv[1];
    steps = std::atoll(argv[2]);
    for (int i = 3; i < argc; ++i) {
      const std::string word = argv[i];
      const auto equals = word.find('=');
      if (word.rfind("--", 0) == 0 && i + 1 < argc) {
        numbers[word.substr(2)].insert(std::atoll(argv[++i]));
      } else if (equals != std::string::npos) {
        options.push_back({word.substr(0, equals), word.substr(equals + 1)});
      } else {
        return false;
      }
    }
    return steps > 0;
  }
  bool has(const std::string& word, std::int64_t number) const {
    const auto found = numbers.find(word);
    return found != numbers.end() && found->second.count(number) > 0;
  }
};

void take_a_byte(const char* pipe) {
  const int descriptor = ::open(pipe, O_RDONLY | O_CLOEXEC);
  char byte = 0;
  if (descriptor < 0 || ::read(descriptor, &byte, 1) != 1) ::_exit(4);
  ::close(descriptor);
}

// Is killed, or stops, before some of what it counts. Somebody else lets it go on, first by
// SIGCONT, and then by a byte in the pipe ANADROME_TEST_GO, if there is one: until then only its
// other threads do, up to stops of their own.
class Stops {
 public:
  Stops(const Plan& plan, bool mine) : plan_(plan), mine_(mine) {}
  void at(const std::string& what, std::int64_t number) const {
    if (mine_ && plan_.has("kill-" + what, number)) ::kill(::getpid(), SIGKILL);
    if (!mine_ || !plan_.has("stop-" + what, number)) return;
    const std::lock_guard one_at_a_time(mutex_);
    std::fprintf(stderr, "job: process %d stops at %s %lld\n", static_cast<int>(::getpid()),
                 what.c_str(), static_cast<long long>(number));
    ::kill(::getpid(), SIGSTOP);
    const char* go = std::getenv("ANADROME_TEST_GO");
    if (go != nullptr) take_a_byte(go);
  }

 private:
  const Plan& plan_;
  const bool mine_;
  mutable std::mutex mutex_;
};

// Counts what is done with files, and is killed before some of it.
class DeadlyFileSystem final : public ForwardingFileSystem {
 public:
  explicit DeadlyFileSystem(const Stops& stops) : stops_(stops) {}
  std::int64_t operations() const { return operations_; }
  int close(int descriptor) override { return real_.close(descriptor); }  // whose name may be gone

 private:
  anadrome::store::FileSystem& below() override {
    count();
    return real_;
  }
  void count() {
    std::array<char, 16> thread{};
    ::pthread_getname_np(::pthread_self(), thread.data(), thread.size());
    if (std::string(thread.data()) == "anadrome-watch") return;  // which comes by the clock
    stops_.at("operation", ++operations_);
  }
  const Stops& stops_;
  std::atomic<std::int64_t> operations_{0};
};

int carry_out(const Plan& plan) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ModelShape shape = {.words = 512, .adjoint_fields = true, .sparse = plan.has("sparse", 1)};
  const std::uint64_t right =
      ModularModel(MPI_COMM_WORLD, shape).gradient_with_every_state_kept(plan.steps);

  const Stops stops(plan, plan.numbers.count("rank") > 0 ? plan.has("rank", rank) : rank == 0);
  DeadlyFileSystem files(stops);
  ModularModel model(MPI_COMM_WORLD, shape);
  std::int64_t actions = 0;
  model.before_action = [&](const anadrome_action&) { stops.at("action", ++actions); };
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
  stops.at("begin", 1);
  if (status == ANADROME_OK) result = sweep(run, model, plan.steps, false);
  stops.at("close", 1);
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
                 "usage: %s DIRECTORY STEPS [key=value ...] [--rank R] [--kill-action K] ...\n",
                 argv[0]);
    return 2;
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int code = carry_out(plan);
  MPI_Finalize();
  return code;
}
