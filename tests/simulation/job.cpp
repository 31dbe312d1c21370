// SPDX-License-Identifier: BSD-2-Clause
#include "job.h"

#include <mpi.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "coupled_model.h"
#include "model_passes.h"
#include "power_loss_file_system.h"
#include "slow_files.h"

namespace anadrome::simulation {
namespace {

namespace fs = std::filesystem;
// What a run in its process tells the one above it.
struct Report {
  bool told = false;
  test::Ending ending = test::Ending::kWrong;
  bool resumed = false, hit = false, stopped = false;
  std::uint64_t trace = 0;
  std::int64_t turns = 0;
  std::array<char, 400> why{};
};

// One run on all ranks of a world; in a process of its own.
class Run {
 public:
  Run(const Job& job, const Mishap& mishap, const std::string& directory, std::uint64_t seed,
      Report& report)
      : job_(job), mishap_(mishap), directory_(directory), seed_(seed), report_(report) {}

  int carry_out() {
    std::optional<test::PowerLossFileSystem> power;
    if (mishap_.kind == Mishap::kPowerLoss)
      power.emplace(directory_ + "/disk", directory_ + "/grave");
    SlowFiles slow;
    test::FaultyFileSystem faulty;
    faulty_ = &faulty;
    World world(seed_, job_.ranks, job_.ranks_per_node, job_.costs);
    const test::Resources before = test::Resources::now();
    const auto last = [&] {
      report_.trace = world.trace();
      report_.turns = world.turns();
      if (power) power->lose_what_was_not_synced(seed_);
    };
    if (mishap_.killed_at > 0) world.kill_after(mishap_.killed_at, last);
    world.run([&](int rank) { on_rank(rank); });
    report_.trace = world.trace();
    report_.turns = world.turns();
    report_.hit = faulty.hit();
    std::string left = left_in_threads() + left_in_mpi();
    if (test::Resources::now().descriptors != before.descriptors) left += "descriptors are open; ";
    if (left.empty() && world.idle() > 0)
      world.end(kIdle, std::to_string(world.idle()) + " s were waited for nothing");
    if (left.empty()) return kEnded;
    std::fprintf(stderr, "simulation: %s\n", left.c_str());
    return kLeft;
  }

 private:
  // What a rank saw of its run.
  struct Seen {
    test::SweepResult result;
    std::uint64_t actions = 1;  ///< a sum over all
    std::string wrong;
    anadrome_status closed = ANADROME_OK;
    std::string close_message;
    bool stopped = false, failed = false, is_under_way = false;
  };

  void on_rank(int rank) {
    test::Bench bench(MPI_COMM_WORLD, job_.setup, directory_ + "/disk");
    MPI_Barrier(MPI_COMM_WORLD);
    const bool faults = mishap_.kind == Mishap::kFault || mishap_.kind == Mishap::kCorruption;
    if (rank == 0 && faults)
      faulty_->arm(mishap_.operation, mishap_.at, mishap_.fault, mishap_.lasting);
    MPI_Barrier(MPI_COMM_WORLD);
    Seen seen;
    play(bench, rank, seen);
    const test::Verdict verdict = verdict_on(bench, rank, seen);
    if (rank != 0) return;
    report_.told = true;
    report_.ending = verdict.ending;
    report_.resumed = seen.result.resumed;
    report_.stopped = seen.stopped;
    std::snprintf(report_.why.data(), report_.why.size(), "%s", verdict.why.c_str());
  }

  // Open, sweep, passes, close.
  void play(test::Bench& bench, int rank, Seen& seen) {
    test::SweepResult& result = seen.result;
    test::ModularModel& model = bench.model();
    anadrome_run* run = bench.open(result);
    bool sweeps = true;
    std::int64_t actions = 0;
    model.before_action = [&](const anadrome_action& action) {
      for (const std::int64_t number :
           {std::int64_t{action.kind}, action.first, action.last, std::int64_t{action.again}})
        seen.actions = test::mix(seen.actions ^ static_cast<std::uint64_t>(number));
      const bool now = ++actions == mishap_.at && action.kind != ANADROME_DONE;
      if (mishap_.kind == Mishap::kStop && now && rank == 0) anadrome_request_stop(run);
      if (mishap_.kind == Mishap::kFail && now && rank == failing()) fail(run, model, sweeps);
      compute(action);
    };
    if (run != nullptr) result = test::sweep(run, model, job_.setup.steps, job_.setup.unknown);
    sweeps = false;
    seen.is_under_way = statistics_of(run).forward_steps_taken > 0;
    if (result.done) seen.wrong = fault_of_numbers(run, result);
    for (const char letter : job_.passes) {
      if (!result.done || !seen.wrong.empty()) break;
      seen.wrong = fault_of_pass(run, model, letter, result);
    }
    seen.stopped = result.status == ANADROME_STOPPED;
    if (model.leaves && mishap_.deed == Mishap::kBegins) {
      result.status = anadrome_begin(run, job_.setup.steps);
      result.message = anadrome_last_error();
    }
    const bool closes = model.leaves && mishap_.deed == Mishap::kCloses;
    seen.closed = anadrome_close(&run);
    seen.close_message = seen.closed != ANADROME_OK ? anadrome_last_error() : "";
    if (closes) {
      result.status = seen.closed;
      result.message = seen.close_message;
    }
    seen.failed = mishap_.kind == Mishap::kFail && result.status == ANADROME_ERR_PEER;
    const std::string who = "rank " + std::to_string(failing());
    if (seen.failed && job_.ranks > 1 && result.message.find(who) == std::string::npos)
      seen.wrong = "nobody says who failed: " + result.message;
  }

  // How it ended, and every action, must be the same on all ranks.
  test::Verdict verdict_on(test::Bench& bench, int rank, Seen& seen) {
    const bool leaves = mishap_.kind == Mishap::kFail && mishap_.deed >= Mishap::kCloses;
    if (leaves) seen.actions = 0;  // whoever leaves gets fewer
    std::array<std::uint64_t, 7> all = {
        seen.stopped ? 1U : 0U,      seen.stopped ? 0U : 1U, seen.failed ? 1U : 0U,
        seen.failed ? 0U : 1U,       seen.actions,           ~seen.actions,
        seen.wrong.empty() ? 0U : 1U};
    MPI_Allreduce(MPI_IN_PLACE, all.data(), 7, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    std::string& wrong = seen.wrong;
    if (all[0] + all[1] == 2 || all[2] + all[3] == 2)
      wrong = "some ranks stopped or failed, others went on";
    if (all[4] != ~all[5]) wrong = "ranks got other actions than others";
    if (all[6] != 0 && wrong.empty()) wrong = "another rank found a fault";
    test::Verdict verdict;
    if (!wrong.empty()) {
      std::fprintf(stderr, "rank %d: %s\n", rank, wrong.c_str());
      verdict.why = wrong;
    } else if (seen.stopped || seen.failed) {
      const bool clean = seen.closed == ANADROME_OK || seen.failed;
      verdict.ending = clean ? test::Ending::kCleanError : test::Ending::kWrong;
      verdict.why = seen.closed == ANADROME_OK ? "stopped" : seen.close_message;
    } else {
      verdict = bench.judge(seen.result, seen.closed, seen.close_message);
      if (verdict.ending == test::Ending::kCleanError && must_be_exact(seen)) {
        verdict.ending = test::Ending::kWrong;
        verdict.why = "an error without need: " + verdict.why;
      }
    }
    if (verdict.ending == test::Ending::kExact && job_.setup.keeps()) check_kept(bench, verdict);
    return verdict;
  }

  int failing() const { return job_.ranks - 1; }

  // The model's time.
  void compute(const anadrome_action& action) const {
    const std::int64_t last = std::min(action.last, job_.setup.steps);  // n may be unknown
    const std::int64_t steps = action.kind == ANADROME_ADVANCE ? last - action.first : 1;
    const double seconds = job_.costs.step * static_cast<double>(steps);
    self()->computed += seconds;
    world()->spend_about(seconds, "a step");
  }

  void fail(anadrome_run* run, test::ModularModel& model, bool sweeps) const {
    switch (mishap_.deed) {
      case Mishap::kSaysSo:
        anadrome_fail(run, "the solver diverged");
        break;
      case Mishap::kPack:
        model.pack_returns = 17;
        break;
      case Mishap::kUnpack:
        model.unpack_returns = 17;
        break;
      case Mishap::kCloses:
      case Mishap::kBegins:
        model.leaves = sweeps;  // passes have a loop of their own
        break;
    }
  }

  // Files that stay have the states that were meant for disk, unless something befell the disk.
  void check_kept(test::Bench& bench, test::Verdict& verdict) {
    const std::string fault = bench.fault_of_kept_files();
    if (fault.empty() || mishap_.kind == Mishap::kFault || mishap_.kind == Mishap::kCorruption)
      return;
    verdict.ending = test::Ending::kWrong;
    verdict.why = fault;
  }

  static anadrome_stats statistics_of(anadrome_run* run) {
    anadrome_stats of{};
    of.size = sizeof of;
    if (run != nullptr) anadrome_statistics(run, &of);
    return of;
  }

  // Though a file failed; residuals cannot be computed again, nor what a pass lacks.
  bool must_be_exact(const Seen& seen) const {
    return mishap_.kind == Mishap::kFault && job_.setup.schedule != "undo" && job_.passes.empty() &&
           job_.disk < 0 &&
           test::must_be_exact(mishap_.operation, mishap_.fault, mishap_.lasting, seen.is_under_way,
                               job_.setup.keeps());
  }

  // Of a sweep that is done.
  std::string fault_of_numbers(anadrome_run* run, const test::SweepResult& result) const {
    const anadrome_stats of = statistics_of(run);
    if (of.peak_library_bytes > of.memory_bytes)
      return "memory: " + std::to_string(of.peak_library_bytes) + " bytes of " +
             std::to_string(of.memory_bytes);
    if (job_.disk >= 0 && !job_.compresses && of.disk_bytes_reserved_all_ranks > job_.disk)
      return "disk: " + std::to_string(of.disk_bytes_reserved_all_ranks) + " bytes of " +
             std::to_string(job_.disk);
    const bool undisturbed = !mishap_.excuses() && !result.resumed;
    if (undisturbed && of.forward_steps_planned >= 0 &&
        of.forward_steps_taken != of.forward_steps_planned)
      return std::to_string(of.forward_steps_taken) + " steps, planned " +
             std::to_string(of.forward_steps_planned);
    return "";
  }

  // After it `result` is that of the pass, and its gradient the sweep's.
  std::string fault_of_pass(anadrome_run* run, test::ModularModel& model, char letter,
                            test::SweepResult& result) const {
    const std::uint64_t gradient = result.gradient;
    const bool resumed = result.resumed;
    std::string fault;
    if (letter == 'W') {
      result = test::rewind(run, model);
      if (result.done && result.gradient != gradient) fault = "another gradient after a rewind";
    } else {
      const auto direction = letter == 'F' ? ANADROME_PASS_FORWARD : ANADROME_PASS_REVERSE;
      result = test::pass(run, model, direction);
      if (result.done &&
          result.gradient != test::states_in_order(model, job_.setup.steps, direction))
        fault = "a pass saw other states";
    }
    result.gradient = gradient;
    result.resumed = resumed;
    return fault;
  }

  const Job& job_;
  const Mishap& mishap_;
  const std::string directory_;
  const std::uint64_t seed_;
  Report& report_;
  test::FaultyFileSystem* faulty_ = nullptr;
};

// disk= may be less than any state takes, and that shows in begin.
bool is_too_small(const std::string& why) {
  return why.find("the least that is written at once") != std::string::npos;
}

// schedule=undo needs every residual. One that a disk lost, the runs that go on lack too.
bool lacks_residual(const Job& job, const std::string& why, bool disk_failed) {
  if (job.setup.schedule != "undo" || why.empty()) return false;
  return why.find("the disk takes none") != std::string::npos ? job.disk >= 0
                                                              : disk_failed && job.resumes;
}

// A file whose bytes are not those of a run may be a user's, whatever its name is: a run leaves it
// alone.
bool is_refused(const std::string& why) {
  return why.find("nothing says is a run's") != std::string::npos;
}

// In `directory`, but for the empty one that was there.
std::string files_in(const fs::path& directory) {
  std::string names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() != "fast")
      names += " " + entry.path().lexically_relative(directory).string();
  }
  return names;
}

}  // namespace

Result carry_out(const Job& job, const std::string& directory) {
  Result result;
  void* const shared =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const report = new (shared) Report;
  bool wrote_other_bytes = false, disk_failed = false, cleaned = true;
  for (const char* name : {"/disk", "/grave"}) fs::create_directory(directory + name);
  for (std::size_t i = 0; i < job.runs.size() && result.fault.empty(); ++i) {
    const Mishap& mishap = job.runs[i];
    *report = Report{};
    const std::uint64_t seed = (job.seed + 1) * 1000003 + i;
    const pid_t child = fork();
    if (child == 0) {
      alarm(300);  // a circle without a turn
      _exit(Run(job, mishap, directory, seed, *report).carry_out());
    }
    int status = 0;
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result.trace = result.trace * 31 + report->trace;
    result.turns += report->turns;
    const bool last = i + 1 == job.runs.size();
    const bool lacks = lacks_residual(job, report->why.data(), disk_failed);
    const std::string where = "run " + std::to_string(i + 1) + " (" + mishap.text() + "): ";
    if (code == kKilled) {
      ++result.killed;
    } else if (code != kEnded) {
      result.fault = where + "the process ended with " + std::to_string(code);
    } else if (!report->told) {
      result.fault = where + "no verdict";
    } else if (is_refused(report->why.data()) && wrote_other_bytes) {
      ++result.errors;
      cleaned = false;
      break;
    } else if (report->ending == test::Ending::kWrong) {
      result.fault = where + report->why.data();
    } else if (report->ending == test::Ending::kCleanError && !mishap.excuses() &&
               !report->stopped && !is_too_small(report->why.data()) && !lacks) {
      result.fault = where + "an error without a cause: " + report->why.data();
    } else if (report->ending == test::Ending::kExact && !last &&
               files_in(directory + "/disk") != "" && !mishap.excuses()) {
      result.fault = where + "left" + files_in(directory + "/disk");
    }
    disk_failed = disk_failed || mishap.fault != test::Fault::kNone;
    if (last && lacks) cleaned = !job.resumes;
    wrote_other_bytes = wrote_other_bytes || mishap.kind == Mishap::kPowerLoss ||
                        mishap.kind == Mishap::kCorruption;
    result.resumed += report->resumed ? 1 : 0;
    result.hit += report->hit ? 1 : 0;
    result.errors +=
        report->ending == test::Ending::kCleanError && !report->stopped && code == kEnded ? 1 : 0;
  }
  if (cleaned && result.fault.empty() && !files_in(directory + "/disk").empty())
    result.fault = "left" + files_in(directory + "/disk");
  munmap(shared, sizeof(Report));
  fs::remove_all(directory + "/disk");
  fs::remove_all(directory + "/grave");
  return result;
}

}  // namespace anadrome::simulation
