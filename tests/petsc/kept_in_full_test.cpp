// SPDX-License-Identifier: BSD-2-Clause
// Where nobody says how, records are kept in full until memory is used up.
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/petsc/settings/settings.h"
#include "mpi_main.h"
#include "oscillators.h"

namespace {

using namespace anadrome::test;
namespace petsc = anadrome::petsc;

const std::string basic = " -ts_trajectory_type basic";

// Their states are larger than others'.
class KeptInFull : public testing::TestWithParam<Method> {
 protected:
  void SetUp() override { Oscillators::pairs = 300; }
  void TearDown() override { Oscillators::pairs = 3; }

  /// Gradients, one after the other: on the way back in pieces, and a record in between. The clock
  /// is set back on the way.
  static std::vector<double> gradients(Oscillators& model) {
    std::vector<double> all;
    model.after_step = [&model](Vec) {
      if (model.steps() == 7) TSSetTime(model.ts(), 0);
    };
    for (int i = 0; i < 3; ++i) {
      model.start();
      EXPECT_EQ(model.solve(1), 0);
      VecScale(model.solution(), 0.95);
      EXPECT_EQ(model.solve(2), 0);
      const PetscInt steps = model.steps();
      model.turn();
      EXPECT_EQ(model.back(3), 0);
      append(all, model.record(steps - 3));
      EXPECT_EQ(model.back(), 0);
      append(all, model.values());
    }
    return all;
  }
};

TEST_P(KeptInFull, WithMemoryToSpareNoStepIsRunAgain) {
  Oscillators expected(GetParam().options + basic);
  Oscillators model(GetParam().options + " -ts_trajectory_type anadrome");
  EXPECT_EQ(difference(gradients(expected), gradients(model)), 0);
  EXPECT_EQ(model.trajectory()->recomps, 0);
}

// Calls of PETSc's TSStep so far.
int steps_taken() {
  PetscLogEvent event = -1;
  PetscEventPerfInfo info{};
  EXPECT_EQ(PetscLogEventGetId("TSStep", &event), 0);
  EXPECT_EQ(PetscLogEventGetPerfInfo(0, event, &info), 0);
  return info.count;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(KeptInFull, ThinnedOutWhenMemoryIsUsedUp) {
  Oscillators expected(GetParam().options + basic);
  const std::vector<double> all = gradients(expected);
  for (const std::string memory :
       {"450KiB", "800KiB -ts_trajectory_anadrome_progress on",
        "700KiB -ts_trajectory_anadrome_keep on -ts_trajectory_dirname kept_thin"}) {
    Oscillators model(GetParam().options +
                      " -ts_trajectory_type anadrome -ts_trajectory_anadrome_set_aside 300KiB "
                      "-ts_trajectory_anadrome_memory " +
                      memory);
    EXPECT_EQ(difference(all, gradients(model)), 0) << memory;
    EXPECT_TRUE(ranks() > 1 || model.trajectory()->recomps > 0) << memory;
  }
  if (rank() == 0) {
    EXPECT_GT(std::filesystem::remove_all("kept_thin"), 2u) << "no files stayed";
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(All, KeptInFull, testing::ValuesIn(methods()),
                         [](const auto& tested) { return tested.param.name; });

// Every option, with a value: which ask for steps to be run again, where all records have room?
enum class Again { kNone, kMany };
const std::pair<Again, std::string> asked[] = {
    {Again::kNone,
     "memory=512MiB directory=. name=another wait_for_lock=1 layout=rank "
     "transport=mpio "
     "disk=1GiB bandwidth_limit=1GB/s compress=lz4 keep=on progress=on trace=kept.json "
     "report=kept.txt watchdog=60,abort checkpoint_interval=1 problem=oscillators "
     "sweep=1 audit=exact tolerance=1e-3 probe=on gradient_error=1e-3 passes=2"},
    {Again::kMany, "schedule=async interval=5 checkpoints=4 resume=on"}};

TEST(EveryOption, IsOneOfThese) {
  for (const petsc::Key& key : petsc::kKeys) {
    const auto has = [&](const auto& some) {
      return (" " + some.second).find(" " + std::string(key.name) + "=") != std::string::npos;
    };
    EXPECT_EQ(std::count_if(std::begin(asked), std::end(asked), has), 1) << key.name;
  }
}

using ReportedInFull = KeptInFull;

TEST_P(ReportedInFull, NoStepIsRunAgainUnlessALimitAsksForIt) {
  EXPECT_EQ(PetscLogDefaultBegin(), 0);
  const auto run = [&](const std::string& options) {
    Oscillators model(GetParam().options + " -ts_trajectory_type anadrome" + options);
    const int before = steps_taken();
    const std::vector<double> gradient = gradients(model);
    return std::pair(gradient, steps_taken() - before);
  };
  const auto expected = run("");
  EXPECT_GT(expected.second, 3 * 10);
  const auto expect_steps = [&](const std::string& options, Again again) {
    const auto [gradient, steps] = run(options);
    EXPECT_EQ(difference(gradient, expected.first), 0);
    if (again == Again::kMany) {
      EXPECT_GT(steps, expected.second + 2);
    } else {
      EXPECT_EQ(steps, expected.second);
    }
  };
  const std::string files = " -ts_trajectory_dirname kept_in_full",
                    key = " -ts_trajectory_anadrome_";
  for (const auto& [again, text] : asked) {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      SCOPED_TRACE(word);
      const std::string where = word.starts_with("directory") ? "" : files;
      setenv("ANADROME_OPTIONS", word.c_str(), 1);
      expect_steps(where, again);
      unsetenv("ANADROME_OPTIONS");
      word[word.find('=')] = ' ';
      const auto is = [&](const petsc::Key& one) {
        return word.starts_with(one.name + std::string(" "));
      };
      if (std::any_of(petsc::kKeys.begin(), petsc::kKeys.end(), is))
        expect_steps(where + key + word, again);
    }
  }
  for (const std::string& more :
       {key + "report -", key + "trace kept.json" + key + "progress on",
        key + "keep on -ts_trajectory_keep_files", key + "keep on" + key + "progress on"}) {
    SCOPED_TRACE(more);
    expect_steps(files + more, Again::kNone);
  }
  if (rank() == 0) {
    EXPECT_NE(text_of("kept.txt").find("\n0 steps run again"), std::string::npos);
    const std::string trace = text_of("kept.json");
    EXPECT_NE(trace.find("adjoint"), std::string::npos) << "the reverse sweep is not in it";
    EXPECT_GT(std::filesystem::remove_all("kept_in_full"), 4u) << "no files stayed";
    std::remove("kept.txt");
    std::remove("kept.json");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(One, ReportedInFull,
                         testing::Values(Method{"rk5dp", "-ts_type rk -ts_rk_type 5dp"}),
                         [](const auto& tested) { return tested.param.name; });

// It is no agreement that the others do not come to.
TEST(OneRank, AsksForAReportOrFiles) {
  constexpr unsigned kSeconds = 100;  // and not until CTest ends it
  const std::string cn = "-ts_type cn -ts_trajectory_dirname kept_by_one -ts_trajectory_type ";
  const auto gradient = [](const std::string& options) {
    Oscillators model(options);
    EXPECT_EQ(model.solve(1), 0);
    return model.adjoint();
  };
  const std::vector<double> expected = gradient(cn + "basic");
  alarm(kSeconds);
  for (const std::string key : {"progress", "keep"}) {
    const std::string here = rank() == 0 ? " -ts_trajectory_anadrome_" + key + " on" : "";
    EXPECT_EQ(difference(expected, gradient(cn + "anadrome" + here)), 0) << key;
  }
  alarm(0);
  if (rank() == 0) {
    EXPECT_GT(std::filesystem::remove_all("kept_by_one"), 1u) << "no files stayed";
  }
}

TEST(OneRank, DoesNotDecideForItselfHowRecordsAreKept) {
  alarm(100);
  for (const std::string option : {"anadrome_memory 3MiB", "anadrome_interval 4",
                                   "anadrome_resume on", "anadrome_steps 40", "max_cps_ram 3"}) {
    const CaughtErrors caught;
    Oscillators model("-ts_type cn -ts_trajectory_type anadrome" +
                      (rank() == 0 ? " -ts_trajectory_" + option : ""));
    const PetscErrorCode code = model.solve(1);
    if (ranks() == 1) continue;
    EXPECT_EQ(code, PETSC_ERR_ARG_INCOMP) << option;
    EXPECT_NE(CaughtErrors::message().find("differ between ranks"), std::string::npos);
  }
  alarm(0);
}

TEST(TooLittleMemory, IsRefusedWithTheLeastThatIsEnough) {
  const auto solved = [](const std::string& options) {
    const CaughtErrors caught;
    Oscillators model(
        "-ts_type cn -ts_trajectory_type anadrome -ts_trajectory_anadrome_schedule async " +
        options);
    const PetscErrorCode code = model.solve(1);
    return std::pair(code, CaughtErrors::message());
  };
  const std::string memory = "-ts_trajectory_anadrome_memory ";
  for (const std::string aside : {"", " -ts_trajectory_anadrome_set_aside 40KiB"}) {
    const auto [code, message] = solved(memory + "1KiB" + aside);
    EXPECT_EQ(code, PETSC_ERR_MEM);
    const std::size_t at = message.find("it must be at least ");
    ASSERT_NE(at, std::string::npos) << message;
    const long least = std::stol(message.substr(at + 20));
    EXPECT_EQ(solved(memory + std::to_string(least) + "B" + aside).first, 0) << message;
    EXPECT_NE(solved(memory + std::to_string(least * 3 / 4) + "B" + aside).first, 0) << message;
  }
}

}  // namespace
