// SPDX-License-Identifier: BSD-2-Clause
// fault_sweep [--full] [--only TEXT] [--part I/N] [--count TRIALS]
//
// Every operation of the file system goes wrong in every way it can, once or from then on, in every
// kind of run: (operation, number, fault, once or lasting, run) name a trial. Each gives the exact
// gradient, or one clean error on every rank; nothing is left, and the next run in the same
// directory works. On several ranks the fault is on one of them. Files that are kept have every
// state of every rank, unless close says otherwise, or the storage did not say that it failed.
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>

#include "faulty_file_system.h"
#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;

constexpr Fault kFaultsInjected[] = {
    Fault::kIoError, Fault::kNoSpace, Fault::kNoQuota,    Fault::kInterrupted, Fault::kShort,
    Fault::kTorn,    Fault::kDelayed, Fault::kFlippedBit, Fault::kCorrupted,   Fault::kLost};

struct Trial {
  Operation operation;
  std::int64_t at;
  Fault fault;
  bool lasting;

  std::string text() const {
    return std::string(to_string(fault)) + " at " + to_string(operation) + " " +
           std::to_string(at) + (lasting ? " and all later ones" : "");
  }
};

bool is_harmless(Fault fault) {
  return fault == Fault::kInterrupted || fault == Fault::kShort || fault == Fault::kDelayed;
}

bool is_silent(Fault fault) {
  return fault == Fault::kFlippedBit || fault == Fault::kCorrupted || fault == Fault::kLost;
}

// Must the sweep end with its gradient? Always, if nothing is lost; and once it is under way if one
// transfer fails, or the disk takes no more: x_0 stays in memory until it is on disk.
bool must_be_exact(const Trial& trial, const Verdict& verdict, bool keeps) {
  const bool under_way = verdict.statistics.forward_steps_taken > 0;
  if (keeps && !is_harmless(trial.fault)) return false;
  const bool transfer = trial.operation == Operation::kWrite || trial.operation == Operation::kRead;
  if (is_harmless(trial.fault)) return true;
  switch (trial.fault) {
    case Fault::kNoSpace:
    case Fault::kNoQuota:
      return under_way && trial.operation != Operation::kRead;
    case Fault::kIoError:
    case Fault::kTorn:
      return under_way && (trial.operation == Operation::kWrite || (transfer && !trial.lasting));
    default:
      return under_way && transfer && !trial.lasting;
  }
}

class Sweep {
 public:
  Sweep(const LaboratoryOptions& options, std::int64_t stride)
      : options_(options), stride_(stride) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void over(const Setup& setup) {
    Bench bench(MPI_COMM_WORLD, setup, setup.buffered() ? options_.memory : options_.directory);
    FaultyFileSystem files;
    const std::vector<std::int64_t> counts = count_operations(bench, files);
    for (std::size_t o = 0; o < kOperations; ++o) {
      const auto operation = static_cast<Operation>(o);
      for (const Fault fault : kFaultsInjected) {
        if (!applies(fault, operation)) continue;
        for (std::int64_t at = 1; at <= counts[o]; ++at) {
          for (const bool lasting : {false, true}) {
            ++number_;
            const Trial trial = {operation, at, fault, lasting};
            // By its name: processes that count a little differently still share without overlap.
            const std::size_t name = std::hash<std::string>()(trial.text() + setup.text());
            if (is_drawn(static_cast<std::int64_t>(name >> 1), stride_, options_.part)) {
              carry_out(bench, files, trial);
            }
          }
        }
      }
    }
  }

  std::int64_t number() const { return number_; }
  bool is_first_rank() const { return rank_ == 0; }
  const Tally& tally() const { return tally_; }
  const Tally& by_operation() const { return by_operation_; }

 private:
  std::vector<std::int64_t> count_operations(Bench& bench, FaultyFileSystem& files) {
    begin_trial("without faults, " + bench.setup().text());
    bench.run();  // what is done once in a process
    files.disarm();
    Verdict verdict = bench.run();
    look_at_kept_files(bench, verdict, false);
    if (verdict.ending != Ending::kExact) {
      tally_.complain("without faults, " + bench.setup().text(), verdict.why);
    }
    std::vector<std::int64_t> counts;
    for (std::size_t o = 0; o < kOperations; ++o) {
      counts.push_back(files.count(static_cast<Operation>(o)));
    }
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                  MPI_MAX, MPI_COMM_WORLD);
    return counts;
  }

  // They are right where the run says so; `lied`: as far as the storage was honest.
  static void look_at_kept_files(Bench& bench, Verdict& verdict, bool lied) {
    if (!bench.setup().keeps() || verdict.ending != Ending::kExact) return;
    const std::string fault = bench.fault_of_kept_files();
    if (!is_so_on_any_rank(!fault.empty()) || lied) return;
    verdict.ending = Ending::kWrong;
    verdict.why = "kept files: " + fault;
  }

  void carry_out(Bench& bench, FaultyFileSystem& files, const Trial& trial) {
    const std::string text = trial.text() + ", " + bench.setup().text();
    begin_trial(text);
    const bool here = carried_out_++ % ranks_ == rank_;
    files.disarm();
    if (here) files.arm(trial.operation, trial.at, trial.fault, trial.lasting);
    Verdict verdict = bench.run();
    const bool hit = is_so_on_any_rank(files.hit());
    files.disarm();
    look_at_kept_files(bench, verdict, hit && is_silent(trial.fault));
    if (hit) {
      tally_.add(to_string(trial.fault), verdict);
      by_operation_.add(to_string(trial.operation), verdict);
    }
    if (verdict.ending == Ending::kWrong) {
      tally_.complain(text, verdict.why);
    } else if (verdict.ending != Ending::kExact &&
               (!hit || must_be_exact(trial, verdict, bench.setup().keeps()))) {
      tally_.complain(text, "an error without need: " + verdict.why);
    }
    check_rest(bench, text, verdict);
  }

  // Files may stay where they could not be removed; the next run takes care of them.
  void check_rest(Bench& bench, const std::string& text, const Verdict& verdict) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string left = bench.left_behind();
    tally_.complain_of_leaks(text, left, verdict);
    constexpr std::int64_t kEach = 8;
    if (!is_so_on_any_rank(!left.empty()) && ++since_next_ % kEach != 0) return;
    Verdict next = bench.run();
    look_at_kept_files(bench, next, false);
    if (next.ending != Ending::kExact) tally_.complain(text, "the run after it: " + next.why);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string still = bench.left_behind();
    if (!still.empty()) tally_.complain(text, "left by the run after it: " + still);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const LaboratoryOptions& options_;
  const std::int64_t stride_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t number_ = 0, carried_out_ = 0, since_next_ = 0;
  Tally tally_, by_operation_;
};

int run_all(const LaboratoryOptions& options) {
  // A prime, so that every fault meets every operation and run somewhere.
  constexpr std::int64_t kShortStride = 97;
  const std::int64_t stride = options.full        ? options.parts
                              : options.count > 0 ? options.count
                                                  : kShortStride;
  Sweep sweep(options, stride);
  // The short form takes some of the setups, others with each number of ranks.
  int ranks = 1, index = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int shares = ranks == 1 ? 3 : 12;
  std::vector<Setup> setups = all_setups(ranks);
  for (Setup& setup : kept_setups()) setups.push_back(std::move(setup));
  for (const Setup& setup : setups) {
    const bool mine = options.full || !options.only.empty() || index++ % shares == ranks % shares;
    if (mine && setup.text().find(options.only) != std::string::npos) sweep.over(setup);
  }
  end_trials();
  if (sweep.is_first_rank()) {
    std::printf("1 of %lld of %lld trials\n\n", static_cast<long long>(stride),
                static_cast<long long>(sweep.number()));
  }
  sweep.tally().print("fault");
  if (sweep.is_first_rank()) std::printf("\n");
  sweep.by_operation().print("operation");
  const bool failed = is_so_on_any_rank(sweep.tally().complaints() > 0);
  if (sweep.tally().trials() == 0) return 1;
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
