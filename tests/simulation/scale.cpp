// SPDX-License-Identifier: BSD-2-Clause
// simulation_scale [--ranks P] [--node N] [--steps n] [--interval I] [--straggler X] [--write
// SECONDS] [--kill yes] [--coupled yes]
//
// The library on P ranks of a large machine, which its Costs stand for: model seconds of open,
// begin, the forward sweep, the reverse one and close; with --kill also of a resumption after a
// kill at the turn. The gradient of each rank is compared with every state kept, so it is the same
// for every P.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "modular_model.h"
#include "real_threads.h"
#include "slow_files.h"
#include "world.h"

namespace {

using namespace anadrome;
using namespace anadrome::simulation;
namespace fs = std::filesystem;

struct Options {
  int ranks = 16, ranks_per_node = 16;
  std::int64_t steps = 64;
  std::string interval = "auto";
  bool kill = false, coupled = false;
  double straggler = 0;  ///< one rank's step takes so much longer, each rank's in turn
};

// 2 us a message, 10 GB/s; a metadata server of 20,000 operations a second for all; 1 GB/s a rank
// to the disk, which begins after 0.2 ms; steps of 10 ms.
Costs machine = {.latency = 2e-6,
                 .per_byte = 1e-10,
                 .metadata = 5e-5,
                 .transfer = 2e-4,
                 .per_file_byte = 1e-9,
                 .step = 1e-2,
                 .spread = 0};

enum Phase { kOpen, kBegin, kForward, kReverse, kClose, kResume, kPhases };
constexpr std::array<const char*, kPhases> kNames = {"open",    "begin", "forward",
                                                     "reverse", "close", "resume"};

struct Report {
  std::array<double, kPhases> seconds{};
  std::int64_t wrong = 0, interval = 0, resumed = 0;
};

void on_rank(const Options& options, const std::string& directory, Report& report, bool killed) {
  const int rank = self()->rank;
  test::ModelShape shape = {.words = 64, .adjoint_fields = true, .coupled = options.coupled};
  test::ModularModel model(MPI_COMM_WORLD, shape);
  const std::uint64_t right = model.gradient_with_every_state_kept(options.steps);
  MPI_Barrier(MPI_COMM_WORLD);
  double last = world()->now();
  const auto ends = [&](Phase phase) {
    const bool again = options.kill && !killed && phase <= kForward;
    if (rank == 0 && !again) report.seconds[phase] = world()->now() - last;
    last = world()->now();
  };
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_WORLD, &run);
  ends(kOpen);
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"schedule", "async"},
           {"interval", options.interval},
           {"memory", "64KiB"},
           {"directory", directory},
           {"resume", options.kill ? "on" : "off"},
           {"checkpoint_interval", "0.2"},
           {"audit", "off"}}) {
    if (anadrome_set(run, key, value.c_str()) != ANADROME_OK)
      world()->end(kLeft, anadrome_last_error());
  }
  model.add_fields(run);
  bool begun = false;
  std::int64_t turns = 0;
  model.before_action = [&](const anadrome_action& action) {
    if (!begun) ends(options.kill && !killed ? kResume : kBegin);
    begun = true;
    if (action.kind == ANADROME_TURN) {
      ends(kForward);
      if (killed && ++turns == 1) model.leaves = true;
    }
    const std::int64_t steps = action.kind == ANADROME_ADVANCE ? action.last - action.first : 1;
    const bool slow = options.straggler > 0 && (action.first + rank) % options.ranks == 0;
    world()->spend(machine.step * static_cast<double>(steps) * (slow ? 1 + options.straggler : 1),
                   "a step");
  };
  const test::SweepResult result = test::sweep(run, model, options.steps, false);
  if (killed) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) _exit(kKilled);
    world()->spend(1e9, "the end");
  }
  ends(kReverse);
  anadrome_stats of{};
  of.size = sizeof of;
  anadrome_statistics(run, &of);
  if (!result.done || result.gradient != right) {
    if (report.wrong++ == 0) std::fprintf(stderr, "rank %d: %s\n", rank, result.message.c_str());
  }
  report.resumed += result.resumed ? 1 : 0;
  report.interval = of.interval;
  anadrome_close(&run);
  ends(kClose);
}

int run(const Options& options, const std::string& directory, Report& report, bool killed) {
  const pid_t child = fork();
  if (child == 0) {
    stay_on_a_core(static_cast<int>(getpid()));
    SlowFiles files(true);
    World world(1, options.ranks, options.ranks_per_node, machine);
    world.run([&](int) { on_rank(options, directory, report, killed); });
    _exit(kEnded);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

/// The library asks the system itself; its descriptors are those of SlowFiles here.
extern "C" int fstat(int descriptor, struct stat* status) {
  return fstatat(SlowFiles::of_system(descriptor), "", status, AT_EMPTY_PATH);
}

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const char* const value = argv[i + 1];
    if (flag == "--ranks") {
      options.ranks = std::atoi(value);
    } else if (flag == "--node") {
      options.ranks_per_node = std::atoi(value);
    } else if (flag == "--steps") {
      options.steps = std::atoll(value);
    } else if (flag == "--interval") {
      options.interval = value;
    } else if (flag == "--kill") {
      options.kill = true;
    } else if (flag == "--coupled") {
      options.coupled = true;
    } else if (flag == "--write") {
      machine.transfer = std::atof(value);
    } else if (flag == "--straggler") {
      options.straggler = std::atof(value);
    } else {
      std::fprintf(stderr, "%s: there is no option %s\n", argv[0], flag.c_str());
      return 2;
    }
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const std::string directory = "/dev/shm/anadrome-scale-" + std::to_string(getpid());
  fs::create_directory(directory);
  void* const shared =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const report = new (shared) Report;
  const double start = real_seconds();
  int code = options.kill ? run(options, directory, *report, true) : int{kKilled};
  if (code == kKilled) code = run(options, directory, *report, false);
  fs::remove_all(directory);
  std::printf("%d ranks:", options.ranks);
  for (std::size_t i = 0; i < kPhases; ++i) std::printf(" %s %.4g", kNames[i], report->seconds[i]);
  std::printf(" interval %lld resumed %lld wrong %lld code %d (%.0f s)\n",
              static_cast<long long>(report->interval), static_cast<long long>(report->resumed),
              static_cast<long long>(report->wrong), code, real_seconds() - start);
  return code != kEnded || report->wrong > 0 ||
                 report->resumed != (options.kill ? options.ranks : 0)
             ? 1
             : 0;
}
