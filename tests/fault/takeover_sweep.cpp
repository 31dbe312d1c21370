// SPDX-License-Identifier: BSD-2-Clause
// takeover_sweep [--full] [--only TEXT]
//
// A run was stopped or killed, and while another takes it over every operation of the file system
// goes wrong in every way it can, on one of the ranks: the gradient is exact, or there is one clean
// error on every rank. An error in begin costs nothing of what was committed: the next run goes on,
// unless wrong bits made it look damaged. And where a write failed before the run was stopped, the
// next one ends with the exact gradient.
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "faulty_file_system.h"
#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

struct Trial {
  Operation operation;
  std::int64_t at;
  Fault fault;
  bool lasting;
  bool killed;  ///< the run before: its lock is still there
  int rank;
};

std::vector<Setup> setups() {
  const ModelShape page = {.words = 512, .adjoint_fields = true};
  const ModelShape small = {.words = 2, .registered = Registered::kPacked, .adjoint_fields = true};
  std::vector<Setup> all = {
      {.name = "async 2", .interval = "2", .steps = 30, .shape = page, .memory = 6},
      {.name = "async 3, n unknown",
       .interval = "3",
       .layout = "rank",
       .steps = 30,
       .unknown = true,
       .shape = page,
       .memory = 6},
      {.name = "async 2, watched",
       .interval = "2",
       .layout = "node",
       .steps = 30,
       .shape = page,
       .memory = 6,
       .more = {{"watchdog", "1000"}}},
      {.name = "async 1, many to a block", .interval = "1", .steps = 1100, .shape = small},
  };
  for (Setup& setup : all) {
    setup.more.push_back({"resume", "on"});
    setup.more.push_back({"checkpoint_interval", "0"});
  }
  return all;
}

class TakeoverSweep {
 public:
  explicit TakeoverSweep(const LaboratoryOptions& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  // Left in the forward sweep, and in the reverse sweep.
  void over(const Setup& setup) {
    Bench bench(MPI_COMM_WORLD, setup, options_.memory);
    FaultyFileSystem files;
    std::int64_t actions = 0;
    bench.model().before_action = [&](const anadrome_action&) { ++actions; };
    begin_trial("without faults, " + setup.text());
    const Verdict whole = bench.run();
    if (whole.ending != Ending::kExact) {
      tally_.complain("without faults, " + setup.text(), whole.why);
    }
    for (const std::int64_t quarter : {1, 3}) {
      over(bench, files, actions * quarter / 4);
      over_writes_before(bench, files, actions * quarter / 4);
    }
  }

  const Tally& tally() const { return tally_; }

 private:
  void over(Bench& bench, FaultyFileSystem& files, std::int64_t stop_at) {
    const std::vector<std::int64_t> counts = operations_of_begin(bench, files, stop_at);
    for (std::size_t o = 0; o < kOperations; ++o) {
      for (std::size_t f = 1; f < kFaults; ++f) {
        const auto operation = static_cast<Operation>(o);
        const auto fault = static_cast<Fault>(f);
        if (!applies(fault, operation)) continue;
        for (std::int64_t at = 1; at <= counts[o]; ++at) {
          for (const bool lasting : {false, true}) {
            constexpr std::int64_t kShortStride = 11;
            const std::int64_t number = number_++;
            if (!options_.full && !is_drawn(number, kShortStride * ranks_, 0)) continue;
            const bool killed = carried_out_ / ranks_ % 2 == 0;
            const int rank = static_cast<int>(carried_out_++ % ranks_);
            carry_out(bench, files, stop_at, {operation, at, fault, lasting, killed, rank});
          }
        }
      }
    }
  }

  // A write of the run that is left fails. What goes on from there comes to its end.
  void over_writes_before(Bench& bench, FaultyFileSystem& files, std::int64_t stop_at) {
    files.disarm();
    leave(bench, stop_at, false);
    std::int64_t writes = files.count(Operation::kWrite);
    MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    bench.run();
    constexpr std::int64_t kShortStride = 3;
    for (std::int64_t at = 1; at <= writes; ++at) {
      if (!options_.full && !is_drawn(number_++, kShortStride * ranks_, 0)) continue;
      const int rank = static_cast<int>(carried_out_++ % ranks_);
      const std::string text = "EIO at write " + std::to_string(at) + " of rank " +
                               std::to_string(rank) + " before it was stopped at action " +
                               std::to_string(stop_at) + ", " + bench.setup().text();
      begin_trial(text);
      if (rank == rank_) files.arm(Operation::kWrite, at, Fault::kIoError);
      leave(bench, stop_at, false);
      const bool hit = is_so_on_any_rank(files.hit());
      files.disarm();
      const Verdict verdict = bench.run();
      if (hit) tally_.add("EIO before", verdict);
      if (verdict.ending != Ending::kExact) tally_.complain(text, verdict.why);
    }
  }

  // Leaves a run to take over. False: there is nothing, since something failed.
  bool leave(Bench& bench, std::int64_t stop_at, bool killed) {
    SweepResult result;
    anadrome_run* run = bench.open(result);
    std::int64_t actions = 0;
    bench.model().before_action = [&](const anadrome_action&) {
      if (++actions == stop_at) anadrome_request_stop(run);
    };
    const Setup& setup = bench.setup();
    result = sweep(run, bench.model(), setup.steps, setup.unknown);
    bench.model().before_action = nullptr;
    const std::string lock = bench.run_directory() + "/lock", aside = options_.memory + "/lock";
    if (rank_ == 0 && killed) fs::copy_file(lock, aside, fs::copy_options::overwrite_existing);
    const bool left = anadrome_close(&run) == ANADROME_OK && result.status == ANADROME_STOPPED;
    if (rank_ == 0 && killed) fs::rename(aside, lock);
    MPI_Barrier(MPI_COMM_WORLD);
    return left;
  }

  std::vector<std::int64_t> operations_of_begin(Bench& bench, FaultyFileSystem& files,
                                                std::int64_t stop_at) {
    begin_trial("without faults, " + bench.setup().text());
    if (!leave(bench, stop_at, false)) tally_.complain(bench.setup().text(), "it was not stopped");
    files.disarm();
    std::vector<std::int64_t> counts(kOperations);
    bool began = false;
    bench.model().before_action = [&](const anadrome_action&) {
      for (std::size_t o = 0; o < kOperations && !began; ++o) {
        counts[o] = files.count(static_cast<Operation>(o));
      }
      began = true;
    };
    const Verdict verdict = bench.run();
    bench.model().before_action = nullptr;
    if (verdict.ending != Ending::kExact || !verdict.resumed) {
      tally_.complain("taken over, " + bench.setup().text(), verdict.why);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                  MPI_MAX, MPI_COMM_WORLD);
    return counts;
  }

  void carry_out(Bench& bench, FaultyFileSystem& files, std::int64_t stop_at, const Trial& trial) {
    const std::string text =
        std::string(to_string(trial.fault)) + " at " + to_string(trial.operation) + " " +
        std::to_string(trial.at) + (trial.lasting ? " and all later ones" : "") + " of rank " +
        std::to_string(trial.rank) + ", " + (trial.killed ? "killed" : "stopped") +
        " before action " + std::to_string(stop_at) + ", " + bench.setup().text();
    begin_trial(text);
    leave(bench, stop_at, trial.killed);
    files.disarm();
    if (trial.rank == rank_) {
      files.arm(trial.operation, trial.at, trial.fault, trial.lasting);
    }
    bool began = false;
    bench.model().before_action = [&](const anadrome_action&) { began = true; };
    const Verdict verdict = bench.run();
    bench.model().before_action = nullptr;
    const bool hit = is_so_on_any_rank(files.hit());
    files.disarm();
    if (hit) tally_.add(to_string(trial.fault), verdict);
    if (verdict.ending == Ending::kWrong) tally_.complain(text, verdict.why);
    const bool harmless = trial.fault == Fault::kInterrupted || trial.fault == Fault::kShort ||
                          trial.fault == Fault::kDelayed;
    if (harmless && !(verdict.ending == Ending::kExact && verdict.resumed)) {
      tally_.complain(text, "it did not go on: " + verdict.why);
    }
    const std::string left = bench.left_behind();
    tally_.complain_of_leaks(text, left, verdict);
    MPI_Barrier(MPI_COMM_WORLD);
    const Verdict next = bench.run();
    if (next.ending != Ending::kExact) tally_.complain(text, "the run after it: " + next.why);
    const bool says_so = trial.fault != Fault::kFlippedBit;
    if (verdict.ending == Ending::kCleanError && says_so && !began && !next.resumed) {
      tally_.complain(text, "what was committed is gone, and all that there is: " + verdict.why);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const LaboratoryOptions& options_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t number_ = 0, carried_out_ = 0;
  Tally tally_;
};

int run_all(const LaboratoryOptions& options) {
  TakeoverSweep takeovers(options);
  for (const Setup& setup : setups()) {
    if (setup.text().find(options.only) != std::string::npos) takeovers.over(setup);
  }
  return conclude(takeovers.tally(), "fault");
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
