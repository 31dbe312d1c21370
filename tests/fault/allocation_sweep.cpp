// SPDX-License-Identifier: BSD-2-Clause
// allocation_sweep [--full] [--only TEXT] [--part I/N] [--count TRIALS]
//
// Every allocation of the library fails, once or from then on, on one rank: the exact gradient or a
// clean error on every rank, nothing is left, and the next run works. Leaks show under a sanitizer.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

#include "failing_allocations.h"
#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;

// Beside the runs of the other sweeps: those that leave files, and those without any.
std::vector<Setup> setups(int ranks) {
  std::vector<Setup> all;
  for (const Setup& setup : all_setups(ranks)) {
    if (setup.direct == "off") all.push_back(setup);
  }
  const ModelShape large = {.words = 160};
  const ModelShape carried = {.words = 160, .adjoint_fields = true};
  for (Setup& setup : in_layouts(
           {"shared", "rank"},
           {
               {.name = "async 2, resume",
              .interval = "2",
              .shape = carried,
              .memory = 4,
              .more = {{"resume", "on"}, {"checkpoint_interval", "0"}}},
               {.name = "async 3, keep", .interval = "3", .shape = large, .more = {{"keep", "on"}}},
               {.name = "async 1, small disk, compressed",
               .interval = "1",
               .shape = carried,
               .memory = 60,
               .more = {{"resume", "on"},
                        {"checkpoint_interval", "0"},
                        {"compress", "lz4"},
                        {"disk", "1MiB"}}},
               {.name = "revolve", .schedule = "revolve", .shape = large, .memory = 4},
               {.name = "store_all", .schedule = "store_all", .shape = large, .memory = 42},
           })) {
    all.push_back(std::move(setup));
  }
  return all;
}

bool leaves_files(const Setup& setup) { return setup.name.find("keep") != std::string::npos; }

class AllocationSweep {
 public:
  AllocationSweep(const LaboratoryOptions& options, std::int64_t stride)
      : options_(options), stride_(stride) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void over(const Setup& setup) {
    Bench bench(MPI_COMM_WORLD, setup, options_.memory);
    begin_trial("without failures, " + setup.text());
    bench.run();  // what is allocated once in a process
    fail_allocation(0, false, ranks_ == 1);
    const Verdict whole = bench.run();
    if (whole.ending != Ending::kExact) tally_.complain("without failures", whole.why);
    std::int64_t count = allocations();
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (std::int64_t at = 1; at <= count; ++at) {
      for (const bool lasting : {false, true}) {
        if (is_drawn(number_++, stride_, options_.part)) carry_out(bench, at, lasting);
      }
    }
  }

  std::int64_t number() const { return number_; }
  const Tally& tally() const { return tally_; }

 private:
  void carry_out(Bench& bench, std::int64_t at, bool lasting) {
    const std::string text = "allocation " + std::to_string(at) +
                             (lasting ? " and all later ones" : "") + ", " + bench.setup().text();
    constexpr unsigned kSeconds = 60;  // others that wait for a rank that left would wait for ever
    begin_trial(text, kSeconds);
    const bool here = carried_out_++ % ranks_ == rank_;
    fail_allocation(here ? at : 0, lasting, ranks_ == 1);
    const Verdict verdict = bench.run([&] {
      if (lasting && at % 2 == 0)
        fail_allocation(0, false, ranks_ == 1);  // there is memory again for close
    });
    const bool hit = is_so_on_any_rank(an_allocation_failed() || (lasting && at % 2 == 0));
    fail_allocation(0, false, ranks_ == 1);
    if (hit) tally_.add(bench.setup().name, verdict);
    if (verdict.ending == Ending::kWrong || (!hit && verdict.ending != Ending::kExact)) {
      tally_.complain(text, verdict.why);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string left = bench.left_behind();
    tally_.complain_of_leaks(text, left, verdict);
    if (!is_so_on_any_rank(!left.empty())) return;
    const Verdict next = bench.run();
    if (next.ending != Ending::kExact) tally_.complain(text, "the run after it: " + next.why);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!bench.left_behind().empty() && !leaves_files(bench.setup())) {
      tally_.complain(text, "files after the run after it");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const LaboratoryOptions& options_;
  const std::int64_t stride_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t number_ = 0, carried_out_ = 0;
  Tally tally_;
};

int run_all(const LaboratoryOptions& options) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t short_stride = ranks == 1 ? 37 : 19;
  const std::int64_t stride = options.full        ? options.parts
                              : options.count > 0 ? options.count
                                                  : short_stride;
  AllocationSweep sweep(options, stride);
  for (const Setup& setup : setups(ranks)) {
    if (setup.text().find(options.only) != std::string::npos) sweep.over(setup);
  }
  return conclude(sweep.tally(), "run");
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
