// SPDX-License-Identifier: BSD-2-Clause
// Whatever one operation of the file system does, on one rank or on all: every state comes back bit
// by bit, or every rank gets the same error; nothing hangs, and the run can be used again.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 20;

struct Setup {
  const char* layout;
  const char* interval;
  const char* failing_ranks;  ///< which ranks fail: "first", "last" or "all"
  unsigned exchanged = kNoField;
};

class Faults : public testing::TestWithParam<Setup> {
 protected:
  Faults() : model_(MPI_COMM_WORLD, Counts{3, 0, 2, 0, 9}), reference_(model_, kSteps) {
    const std::int64_t least = least_memory(model_, "async");  // as long as nothing is exchanged
    model_.exchanged = GetParam().exchanged;
    constexpr std::int64_t kLive = 2;
    memory_ = (model_.exchanged == kNoField ? 2 : 2 + kLive) * least;
  }

  bool fails_here() const {
    const std::string which = GetParam().failing_ranks;
    return which == "all" || rank() == (which == "first" ? 0 : ranks() - 1);
  }

  // With one rank, first, last and all are the same. More than two share the layouts.
  bool is_repetition() const {
    const bool shared = std::string(GetParam().layout) == "shared";
    if (ranks() == 1) return std::string(GetParam().failing_ranks) != "first";
    return ranks() > 2 && shared != (ranks() % 2 == 0);
  }

  void prepare(RunHandle& run) {
    EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
    run.set("schedule", "async");
    run.set("layout", GetParam().layout);
    run.set("interval", GetParam().interval);
    run.set("warnings", "off");
    run.set("direct", "off");  // a short transfer may end anywhere
    run.set("memory", std::to_string(memory_) + "B");
  }

  Outcome sweep(RunHandle& run) {
    SweepDriver driver(run, model_, reference_);
    return driver.sweep(kSteps, std::string(GetParam().interval) == "3");
  }

  static void expect_exact(const Outcome& outcome) {
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }

  static void expect_no_files() {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(fs::is_empty(directory()));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // Operations of each kind in a run without faults, from begin to the end of close; the most of
  // any rank.
  std::vector<std::int64_t> count_operations(FaultyFileSystem& files) {
    files.disarm();
    {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run);
      expect_exact(sweep(run));
    }
    std::vector<std::int64_t> counts;
    for (std::size_t o = 0; o < kOperations; ++o) {
      counts.push_back(files.count(static_cast<Operation>(o)));
    }
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(kOperations), MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    return counts;
  }

  // One run with the fault, one more sweep without.
  void expect_no_harm(FaultyFileSystem& files, Operation operation, std::int64_t at, Fault fault,
                      bool lasting) {
    const bool transfer = operation == Operation::kWrite || operation == Operation::kRead;
    const bool once =
        transfer && !lasting && fault != Fault::kShort && fault != Fault::kInterrupted;
    const bool must_be_exact = fault == Fault::kShort || fault == Fault::kInterrupted || once;
    {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run);
      if (fails_here()) files.arm(operation, at, fault, lasting);
      const Outcome outcome = sweep(run);
      EXPECT_TRUE(outcome.exact);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status)) << outcome.message;
      if (outcome.status == ANADROME_OK) {
        EXPECT_TRUE(outcome.done);
      } else {
        // Before the first step a failure is an error; later one transfer is not missed.
        EXPECT_FALSE(must_be_exact && (outcome.advances > 0 || !once)) << outcome.message;
        expect_clear(outcome, operation, fault);
      }
      files.disarm();
      expect_exact(sweep(run));
      EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
    }
    expect_no_files();
    // And once more with the fault up to the end of close, where transfers are over.
    if (!transfer || at % 8 == 0) {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run);
      if (fails_here()) files.arm(operation, at, fault, lasting);
      const anadrome_status status = sweep(run).status;
      const anadrome_status closed = run.close();
      files.disarm();
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, closed)) << anadrome_last_error();
      EXPECT_TRUE(!must_be_exact || once || (status == ANADROME_OK && closed == ANADROME_OK));
      MPI_Barrier(MPI_COMM_WORLD);
      const bool empty = fs::is_empty(directory());
      const bool could_clean =
          operation != Operation::kUnlink && operation != Operation::kRemoveDirectory;
      EXPECT_TRUE(empty || !could_clean);
      EXPECT_TRUE(could_clean || closed == ANADROME_OK) << "a warning is enough";
      MPI_Barrier(MPI_COMM_WORLD);
      RunHandle next(MPI_COMM_WORLD);
      prepare(next);
      expect_exact(sweep(next));
    }
    expect_no_files();
  }

  // The text says which file and why.
  static void expect_clear(const Outcome& outcome, Operation operation, Fault fault) {
    const auto says = [&](const std::string& part) {
      return outcome.message.find(part) != std::string::npos;
    };
    EXPECT_TRUE(says(directory()) || says("skeleton.h5")) << outcome.message;
    switch (fault) {
      case Fault::kNoSpace:
        EXPECT_EQ(outcome.status, ANADROME_ERR_NO_SPACE) << outcome.message;
        EXPECT_TRUE(says("No space left")) << outcome.message;
        break;
      case Fault::kIoError:
        EXPECT_EQ(outcome.status, ANADROME_ERR_IO) << outcome.message;
        EXPECT_TRUE(says("Input/output error") || operation == Operation::kUnlink)
            << outcome.message;
        break;
      default:
        if (says("lock does not hold what was written")) {
          EXPECT_EQ(outcome.status, ANADROME_ERR_IO) << outcome.message;
          break;
        }
        EXPECT_EQ(outcome.status, ANADROME_ERR_CORRUPT) << outcome.message;
        EXPECT_TRUE(says("step ")) << outcome.message;
    }
  }

  void sweep_over(Operation operation, const std::vector<Fault>& faults) {
    if (is_repetition()) return;
    FaultyFileSystem files;
    const std::int64_t count = count_operations(files)[static_cast<std::size_t>(operation)];
    EXPECT_GT(count, 0);
    // Two ranks that fail alike meet every fault of every operation, the others one fault of each.
    const bool every_fault = ranks() == 2 && std::string(GetParam().failing_ranks) == "all";
    const auto kinds = static_cast<std::int64_t>(faults.size());
    for (std::int64_t kind = 0; kind < kinds; ++kind) {
      const Fault fault = faults[static_cast<std::size_t>(kind)];
      for (std::int64_t at = 1; at <= count; ++at) {
        if (!every_fault && at % kinds != kind) continue;
        const bool lasting = (fault == Fault::kNoSpace || fault == Fault::kIoError) && at % 3 == 0;
        SCOPED_TRACE("operation " + std::to_string(at) + " of " + std::to_string(count) +
                     ", fault " + std::to_string(static_cast<int>(fault)) +
                     (lasting ? ", and all later ones" : ""));
        expect_no_harm(files, operation, at, fault, lasting);
        RecordProperty("faults", ++faults_);
      }
    }
  }

  CoupledModel model_;
  const Reference reference_;
  std::int64_t memory_ = 0;
  int faults_ = 0;
};

TEST_P(Faults, OfWritesGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kWrite,
             {Fault::kIoError, Fault::kNoSpace, Fault::kShort, Fault::kInterrupted, Fault::kLost});
}

TEST_P(Faults, OfReadsGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kRead,
             {Fault::kIoError, Fault::kShort, Fault::kInterrupted, Fault::kFlippedBit});
}

TEST_P(Faults, OfOpensGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kOpen, {Fault::kIoError, Fault::kNoSpace});
}

TEST_P(Faults, OfReservingSpaceGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kAllocate, {Fault::kIoError, Fault::kNoSpace});
  sweep_over(Operation::kTruncate, {Fault::kIoError, Fault::kNoSpace});
}

TEST_P(Faults, OfRemovalsGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kUnlink, {Fault::kIoError});
  sweep_over(Operation::kRemoveDirectory, {Fault::kIoError});
}

TEST_P(Faults, OfTheDirectoryAndItsLockGiveTheExactStatesOrOneError) {
  sweep_over(Operation::kMakeDirectory, {Fault::kIoError, Fault::kNoSpace});
  sweep_over(Operation::kLock, {Fault::kIoError});
}

std::string name_of(const testing::TestParamInfo<Setup>& info) {
  return std::string(info.param.layout) + "_interval_" + info.param.interval + "_" +
         info.param.failing_ranks + (info.param.exchanged == kNoField ? "" : "_exchanged");
}

// A rank that could not write x_0 keeps it in memory, and has none for other anchors: its callbacks
// are called all the same, for those of the others wait for them.
TEST(FaultsInLittleMemory, LeaveNoCallbackWaitingForThoseOfOtherRanks) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 0, 2, 0, 9});
  const Reference reference(model, kSteps);
  const std::int64_t least = least_memory(model, "async");
  model.callbacks_meet = true;
  for (const Fault fault : {Fault::kIoError, Fault::kNoSpace}) {
    for (const std::int64_t at : {1, 2, 4}) {
      SCOPED_TRACE(std::string(to_string(fault)) + " from write " + std::to_string(at) + " on");
      RunHandle run(MPI_COMM_WORLD);
      EXPECT_EQ(model.add_fields(run), ANADROME_OK);
      for (const auto& [key, value] : {std::pair("schedule", "async"), std::pair("interval", "1"),
                                       std::pair("direct", "off"), std::pair("warnings", "off")}) {
        run.set(key, value);
      }
      run.set("memory", std::to_string(least) + "B");
      FaultyFileSystem files;
      files.only_in("/segment-");
      if (rank() == ranks() - 1) files.arm(Operation::kWrite, at, fault, true);
      SweepDriver driver(run, model, reference);
      const Outcome outcome = driver.sweep(kSteps);
      files.disarm();
      EXPECT_TRUE(outcome.exact) << outcome.message;
      EXPECT_TRUE(outcome.done || outcome.status == ANADROME_ERR_IO ||
                  outcome.status == ANADROME_ERR_NO_SPACE)
          << outcome.message;
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Faults,
                         testing::Values(Setup{"shared", "1", "first"},
                                         Setup{"shared", "3", "last"}, Setup{"shared", "4", "all"},
                                         Setup{"node", "2", "last"}, Setup{"node", "4", "first"},
                                         Setup{"rank", "1", "last"}, Setup{"rank", "3", "first"},
                                         Setup{"rank", "2", "all"},
                                         Setup{"shared", "1", "first", kAllFields},
                                         Setup{"rank", "3", "last", kInt64s}),
                         name_of);

}  // namespace
