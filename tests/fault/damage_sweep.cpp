// SPDX-License-Identifier: BSD-2-Clause
// damage_sweep [--full] [--only TEXT] [--count TRIALS] [--seed NUMBER] [--part I/N]
//
// Bytes on disk change after they were written: flipped bits, and blocks that are truncated,
// swapped, stale, foreign or zero. No run may give a wrong gradient.
#include <mpi.h>

#include <cstdio>
#include <random>
#include <set>
#include <string>

#include "tally.h"
#include "tampering_file_system.h"
#include "trial.h"

namespace {

using namespace anadrome::test;

// Without padding, every byte on disk is a state's.
std::vector<Setup> setups() {
  const ModelShape page = {.words = 512};
  const ModelShape exchanged = {.words = 512, .fields = 2, .registered = Registered::kExchanged};
  const ModelShape small = {.words = 2, .registered = Registered::kPacked};
  std::vector<Setup> all;
  for (const char* direct : {"off", "auto"}) {
    for (Setup& setup : in_layouts(
             {"shared", "rank"},
             {
                 {.name = "async 1", .interval = "1", .shape = page},
                 {.name = "async 3", .interval = "3", .steps = 60, .shape = page, .memory = 3},
                 {.name = "async 2, exchanged", .interval = "2", .shape = exchanged, .memory = 5},
                 {.name = "async 1, many to a block",
                 .interval = "1",
                 .steps = 2100,
                 .shape = small},
             })) {
      setup.direct = direct;
      all.push_back(std::move(setup));
    }
  }
  return all;
}

class DamageSweep {
 public:
  explicit DamageSweep(const LaboratoryOptions& options)
      : options_(options),
        random_(options.seed + 1000003U * static_cast<std::uint64_t>(options.part)) {}

  /// `flips` flipped bits, `others` of all other kinds together.
  void over(const Setup& setup, std::int64_t flips, std::int64_t others) {
    Bench bench(MPI_COMM_WORLD, setup,
                setup.direct == "off" ? options_.memory : options_.directory);
    TamperingFileSystem files;
    begin_trial("without damage, " + setup.text());
    bench.model().seed = 1;
    bench.run();
    files.remember_as_foreign();
    bench.model().seed = 0;
    files.disarm();
    const Verdict whole = bench.run();
    if (whole.ending != Ending::kExact) tally_.complain("without damage", whole.why);
    reads_ = files.reads();
    if (reads_ == 0) tally_.complain(setup.text(), "nothing was read: what should be damaged?");
    if (reads_ == 0) return;
    const std::int64_t before = tally_.trials();
    while (tally_.trials() < before + flips) carry_out(bench, files, Damage::kFlip);
    constexpr Damage kOthers[] = {Damage::kTruncate, Damage::kSwap, Damage::kStale,
                                  Damage::kForeign, Damage::kZeros};
    for (std::int64_t i = 0; i < others; ++i) {
      carry_out(bench, files, kOthers[static_cast<std::size_t>(i) % std::size(kOthers)]);
    }
  }

  const Tally& tally() const { return tally_; }

 private:
  void carry_out(Bench& bench, TamperingFileSystem& files, Damage damage) {
    const auto at = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(reads_)) + 1;
    const std::uint64_t number = random_();
    const std::string text = std::string(to_string(damage)) + " at read " + std::to_string(at) +
                             ", number " + std::to_string(number) + ", " + bench.setup().text();
    begin_trial(text);
    const Verdict verdict = damage == Damage::kStale ? run_twice(bench, files, at, number)
                                                     : run_once(bench, files, damage, at, number);
    const bool hit = files.hit();
    files.disarm();
    const bool fresh = done_.insert(text).second;
    if (hit && fresh) tally_.add(to_string(damage), verdict);
    if (verdict.ending == Ending::kWrong || (!hit && verdict.ending != Ending::kExact)) {
      tally_.complain(text, verdict.why);
    } else if (verdict.ending == Ending::kCleanError && !names_the_place(verdict.why)) {
      tally_.complain(text, "the message names no step or file: " + verdict.why);
    }
    const std::string left = bench.left_behind();
    if (!left.empty()) tally_.complain(text, "left behind: " + left);
  }

  static Verdict run_once(Bench& bench, TamperingFileSystem& files, Damage damage, std::int64_t at,
                          std::uint64_t number) {
    files.arm(damage, at, number);
    return bench.run();
  }

  // Two sweeps of one run, from different x_0; the second finds blocks of the first.
  static Verdict run_twice(Bench& bench, TamperingFileSystem& files, std::int64_t at,
                           std::uint64_t number) {
    SweepResult refused;
    anadrome_run* run = bench.open(refused);
    const Setup& setup = bench.setup();
    bench.model().seed = 2;
    sweep(run, bench.model(), setup.steps, setup.unknown);
    files.remember_as_stale();
    bench.model().seed = 0;
    files.arm(Damage::kStale, at, number);
    const SweepResult result = sweep(run, bench.model(), setup.steps, setup.unknown);
    const anadrome_status closed = anadrome_close(&run);
    return bench.judge(result, closed, closed != ANADROME_OK ? anadrome_last_error() : "");
  }

  static bool names_the_place(const std::string& why) {
    return why.find("step ") != std::string::npos || why.find("segment-") != std::string::npos;
  }

  const LaboratoryOptions& options_;
  std::mt19937_64 random_;
  std::int64_t reads_ = 0;
  std::set<std::string> done_;
  Tally tally_;
};

int run_all(const LaboratoryOptions& options) {
  DamageSweep damage(options);
  const std::vector<Setup> all = setups();
  const auto share = [&](std::int64_t count) {
    return count / static_cast<std::int64_t>(all.size()) / options.parts + 1;
  };
  const std::int64_t flips = options.full ? 24000 : options.count > 0 ? options.count : 200;
  const std::int64_t others = options.full ? 2400 : 100;
  for (const Setup& setup : all) {
    if (setup.text().find(options.only) != std::string::npos) {
      damage.over(setup, share(flips), share(others));
    }
  }
  return conclude(damage.tally(), "damage");
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
