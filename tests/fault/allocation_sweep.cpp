// SPDX-License-Identifier: BSD-2-Clause
// allocation_sweep [--full] [--only TEXT] [--part I/N] [--count TRIALS]
//
// Every allocation of the library fails, once or from then on, on one rank: the exact gradient or a
// clean error on every rank, nothing is left, and the next run works. Leaks show under a sanitizer.
#include <anadrome/gradient.h>
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
    if (setup.buffered()) all.push_back(setup);
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
               {.name = "async 2, keep, mpio",
               .interval = "2",
               .shape = large,
               .memory = 4,
               .more = {{"keep", "on"}, {"transport", "mpio"}}},
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
               {.name = "store_all",
               .schedule = "store_all",
               .shape = large,
               .memory = 42,
               .more = {{"progress", "on"}}},
           })) {
    all.push_back(std::move(setup));
  }
  return all;
}

bool leaves_files(const Setup& setup) { return setup.name.find("keep") != std::string::npos; }

// The ranks meet in every callback, as where halos are exchanged: who leaves alone lets the others
// wait for ever. One of them may fail in a step.
struct Callbacks {
  double x = 0, m = 1, y = 0;
  bool fails = false;

  static Callbacks& meet(void* context) {
    MPI_Barrier(MPI_COMM_WORLD);
    return *static_cast<Callbacks*>(context);
  }
  anadrome_run* open() {
    anadrome_run* run = nullptr;
    anadrome_open(MPI_COMM_WORLD, &run);
    anadrome_set(run, "schedule", "store_all");
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &x, 1);
    anadrome_add_field(run, "y", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, &y, 1);
    return run;
  }
  anadrome_model model() {
    anadrome_model model{};
    model.size = sizeof model;
    model.context = this;
    model.start = [](void* here) { return meet(here).x = meet(here).m, 0; };
    model.advance = [](void* here, std::int64_t first, std::int64_t last, std::int64_t*) {
      for (std::int64_t step = first; step < last; ++step) meet(here).x *= 1.01;
      return meet(here).fails && first <= 3 && 3 < last ? 1 : 0;
    };
    model.turn = [](void* here, std::int64_t) { return meet(here).y = 1, 0; };
    model.adjoint = [](void* here, std::int64_t) { return meet(here).y *= 1.01, 0; };
    return model;
  }
  anadrome_gradient gradient() {
    anadrome_gradient gradient{};
    gradient.size = sizeof gradient;
    gradient.context = this;
    gradient.perturb = [](void* here, std::int64_t, double e) { return meet(here).m = 1 + e, 0; };
    gradient.objective = [](void* here, double* value) { return *value = meet(here).x, 0; };
    gradient.derivative = [](void* here, std::int64_t, double* value) {
      return *value = meet(here).y, 0;
    };
    gradient.pairs = "x=y";
    return gradient;
  }
};

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

  /// Of solve with a callback that fails on the rank without memory, and of check_gradient.
  void over_callbacks(bool solves) {
    const std::string kind = solves ? "a callback fails" : "check_gradient";
    std::int64_t count = 0;
    for (std::int64_t at = 0; at <= count; ++at) {
      const std::string text = "allocation " + std::to_string(at) + ", " + kind;
      begin_trial(text, 60);
      const bool here = at % ranks_ == rank_;
      Callbacks callbacks;
      callbacks.fails = solves && here;
      const anadrome_model model = callbacks.model();
      const anadrome_gradient gradient = callbacks.gradient();
      anadrome_gradient_check check{};
      check.size = sizeof check;
      anadrome_run* const run = callbacks.open();
      fail_allocation(here ? at : 0, false, false);
      const anadrome_status status =
          solves ? anadrome_solve(run, 8, &model)
                 : anadrome_check_gradient(run, 8, &model, &gradient, &check);
      const bool hit = is_so_on_any_rank(an_allocation_failed());
      if (at == 0) count = allocations();
      MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      fail_allocation(0, false, false);
      anadrome_run* closing = run;
      anadrome_close(&closing);
      const anadrome_status wanted = solves ? ANADROME_ERR_PEER : ANADROME_OK;
      const bool exact = status == ANADROME_OK && check.verdict == ANADROME_VERDICT_RIGHT;
      Verdict verdict;
      verdict.ending = exact ? Ending::kExact : Ending::kCleanError;
      tally_.add(kind, verdict);
      const bool right = status == wanted || (hit && status == ANADROME_ERR_MEMORY);
      if (!is_so_on_all_ranks(right && (exact || status != ANADROME_OK)))
        tally_.complain(text, "status " + std::to_string(status));
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
  for (const bool solves : {true, false}) sweep.over_callbacks(solves);
  return conclude(sweep.tally(), "run");
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
