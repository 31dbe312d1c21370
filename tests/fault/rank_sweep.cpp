// SPDX-License-Identifier: BSD-2-Clause
// rank_sweep [--full] [--only TEXT]
//
// One rank fails alone, at every action in turn: it says so (anadrome_fail), its pack or unpack
// callback fails, or it is in another call than the others. Every rank ends, with a cause that
// names the rank; nobody hangs; the next run works.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string>

#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;

enum class Deed { kFail, kPack, kUnpack, kClose, kBegin };
constexpr std::array<Deed, 5> kDeeds = {Deed::kFail, Deed::kPack, Deed::kUnpack, Deed::kClose,
                                        Deed::kBegin};

const char* to_string(Deed deed) {
  constexpr std::array<const char*, 5> kNames = {"anadrome_fail", "failing pack", "failing unpack",
                                                 "close instead of next", "begin instead of next"};
  return kNames[static_cast<std::size_t>(deed)];
}

std::vector<Setup> setups() {
  // A rank that left its steps would be waited for in the caller's own messages: ranks are apart.
  const ModelShape shape = {
      .words = 90, .fields = 2, .registered = Registered::kPacked, .coupled = false};
  return in_layouts(
      {"shared", "rank"},
      {
          {.name = "async 1", .interval = "1", .steps = 20, .shape = shape},
          {.name = "async 3, n unknown",
           .interval = "3",
           .steps = 20,
           .unknown = true,
           .shape = shape},
          {.name = "revolve", .schedule = "revolve", .steps = 20, .shape = shape, .memory = 3},
          {.name = "store_all", .schedule = "store_all", .steps = 20, .shape = shape, .memory = 22},
      });
}

class RankSweep {
 public:
  explicit RankSweep(const LaboratoryOptions& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void over(const Setup& setup) {
    Bench bench(MPI_COMM_WORLD, setup, options_.memory);
    std::int64_t actions = 0;
    bench.model().before_action = [&](const anadrome_action&) { ++actions; };
    begin_trial("without failures, " + setup.text());
    const Verdict whole = bench.run();
    if (whole.ending != Ending::kExact)
      tally_.complain("without failures, " + setup.text(), whole.why);
    for (const Deed deed : kDeeds) {
      for (std::int64_t at = 1; at < actions; ++at) {
        for (int rank = 0; rank < ranks_; ++rank) {
          constexpr std::int64_t kShortStride = 11;
          const bool drawn = options_.full || is_drawn(number_, kShortStride, 0);
          ++number_;
          if (drawn) carry_out(bench, deed, at, rank);
        }
      }
    }
  }

  const Tally& tally() const { return tally_; }

 private:
  void carry_out(Bench& bench, Deed deed, std::int64_t at, int rank) {
    const std::string text = std::string(to_string(deed)) + " on rank " + std::to_string(rank) +
                             " at action " + std::to_string(at) + ", " + bench.setup().text();
    begin_trial(text);
    ModularModel& model = bench.model();
    SweepResult result;
    anadrome_run* run = bench.open(result);
    std::int64_t actions = 0;
    bool happened = false;  // a write that is slow may save the preflight, and its actions
    model.before_action = [&](const anadrome_action& action) {
      if (++actions != at || action.kind == ANADROME_DONE) return;
      happened = true;
      if (rank_ != rank) return;
      switch (deed) {
        case Deed::kFail:
          anadrome_fail(run, "the solver diverged");
          break;
        case Deed::kPack:
          model.pack_returns = 17;
          break;
        case Deed::kUnpack:
          model.unpack_returns = 17;
          break;
        case Deed::kClose:
        case Deed::kBegin:
          model.leaves = true;
          break;
      }
    };
    const Setup& setup = bench.setup();
    result = sweep(run, model, setup.steps, setup.unknown);
    if (model.leaves && deed == Deed::kBegin) {
      result.status = anadrome_begin(run, setup.steps);
      result.message = anadrome_last_error();
    }
    const bool left = model.leaves && deed == Deed::kClose;
    const anadrome_status closed = anadrome_close(&run);
    if (left) {
      result.status = closed;
      result.message = anadrome_last_error();
    }
    model.leaves = false;
    model.pack_returns = model.unpack_returns = 0;
    model.before_action = nullptr;
    judge(bench, text, deed, rank, result, happened);
  }

  void judge(Bench& bench, const std::string& text, Deed deed, int rank, const SweepResult& result,
             bool happened) {
    // A callback that is not called any more does no harm.
    const bool may_be_exact = !happened || deed == Deed::kPack || deed == Deed::kUnpack;
    const bool exact = is_so_on_all_ranks(result.status == ANADROME_OK && bench.is_right(result));
    const bool named = result.status == ANADROME_ERR_PEER &&
                       result.message.find("rank " + std::to_string(rank)) != std::string::npos;
    const bool all_named = is_so_on_all_ranks(named);
    Verdict verdict;
    verdict.ending = exact && may_be_exact ? Ending::kExact
                     : all_named           ? Ending::kCleanError
                                           : Ending::kWrong;
    tally_.add(to_string(deed), verdict);
    if (!named && !(exact && may_be_exact)) {
      std::fprintf(stderr, "%s: on rank %d: status %d %s\n", text.c_str(), rank_,
                   static_cast<int>(result.status), result.message.c_str());
    }
    if (verdict.ending == Ending::kWrong) tally_.complain(text, "not every rank has a named cause");
    MPI_Barrier(MPI_COMM_WORLD);
    const Verdict next = bench.run();
    if (next.ending != Ending::kExact) tally_.complain(text, "the run after it: " + next.why);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string left = bench.left_behind();
    if (!left.empty()) tally_.complain(text, "left behind: " + left);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const LaboratoryOptions& options_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t number_ = 0;
  Tally tally_;
};

int run_all(const LaboratoryOptions& options) {
  RankSweep ranks(options);
  for (const Setup& setup : setups()) {
    if (setup.text().find(options.only) != std::string::npos) ranks.over(setup);
  }
  return conclude(ranks.tally(), "what one rank does");
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
