// SPDX-License-Identifier: BSD-2-Clause
#include <anadrome/schedule.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "planners/streams.h"
#include "schedule/words/revolve.h"
#include "stream_executor.h"

namespace {

struct Opened {
  explicit Opened(const std::string& options) {
    status = anadrome_schedule_open(options.c_str(), &stream);
  }
  ~Opened() { EXPECT_EQ(anadrome_schedule_close(&stream), ANADROME_OK); }
  Opened(const Opened&) = delete;
  anadrome_schedule* stream = nullptr;
  anadrome_status status;
};

/// Plays a stream to DONE; with an unknown end up to limits.steps.
void play(const std::string& options, StreamExecutor& executor, std::int64_t end = -1) {
  Opened opened(options);
  ASSERT_EQ(opened.status, ANADROME_OK) << options << ": " << anadrome_last_error();
  bool open_end = end >= 0;
  while (!executor.done()) {
    anadrome_schedule_action action;
    ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK)
        << options << ": " << anadrome_last_error();
    ASSERT_TRUE(!open_end || action.kind != ANADROME_SCHEDULE_TURN) << "nobody said so";
    if (open_end && action.kind == ANADROME_SCHEDULE_ADVANCE && action.last >= end) {
      ASSERT_EQ(anadrome_schedule_end(opened.stream, end), ANADROME_OK) << anadrome_last_error();
      open_end = false;
      action.last = end;
      if (action.first == end) continue;  // the end shows before a step is taken
    }
    try {
      executor.play(action);
    } catch (const std::logic_error& error) {
      FAIL() << options << ": " << error.what();
    }
  }
  anadrome_schedule_action action;
  ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK);
  EXPECT_EQ(action.kind, ANADROME_SCHEDULE_DONE) << "DONE again";
}

std::string number(std::int64_t value) { return std::to_string(value); }

/// n, slots and slots on disk, for what is played with all of them.
const std::vector<std::int64_t> kSteps = {0, 1, 2, 3, 7, 20, 53};
const std::vector<std::int64_t> kSlots = {1, 2, 3, 5, 60};
const std::vector<std::int64_t> kDiskSlots = {1, 2, 4, 60};
const std::vector<std::string> kCosts = {"", " uf=1 ub=2 write=3 read=2", " uf=2 write=0.5 read=7"};

struct Case {
  std::string name;   ///< of the schedule
  std::string words;  ///< more options
  bool record = false;
  std::int64_t tape_units = 0;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name << each.words; }

bool is_list(const Case& each) { return each.name == "overlapped" || each.name == "offload"; }

Limits limits_of(const Case& each, std::int64_t steps, std::int64_t slots,
                 std::int64_t disk_slots) {
  Limits limits;
  limits.steps = {steps};
  limits.units = slots;
  limits.disk_slots = disk_slots;
  limits.record = each.record;
  limits.tape_units = each.tape_units;
  limits.stiff = each.words.find("stiff") != std::string::npos;
  limits.transfers = is_list(each);
  limits.anchors_stay = each.name == "async";
  return limits;
}

/// Does the schedule say that it cannot do with so little?
bool too_little(const std::string& options) {
  Opened opened(options);
  if (opened.status == ANADROME_OK) return false;
  const bool known = opened.status == ANADROME_ERR_MEMORY ||
                     opened.status == ANADROME_ERR_NO_SPACE ||
                     opened.status == ANADROME_ERR_ARGUMENT;
  EXPECT_TRUE(known) << options << ": " << anadrome_last_error();
  return true;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : anadrome::schedule::streams()) {
    if (entry.needs.branches) continue;
    const std::string name = entry.name;
    if (entry.needs.tape) {
      all.push_back({name, "", true, 1});
      all.push_back({name, " tape_slots=2", true, 2});
      all.push_back({name, " stiff=1", true, 1});
      continue;
    }
    all.push_back({name, ""});
    all.push_back({name, " record=1", true});
    if (entry.tapes != anadrome::schedule::KeptTapes::kNone) {
      all.push_back({name, " tape_slots=2", true, 2});
    }
    if (entry.at_intervals) all.push_back({name, " interval=3"});
  }
  return all;
}

std::string options_of(const Case& each, const std::string& steps, std::int64_t slots,
                       std::int64_t disk_slots, const std::string& costs) {
  return "schedule=" + each.name + " steps=" + steps + " slots=" + number(slots) +
         " disk_slots=" + number(disk_slots) + each.words + costs;
}

class EverySchedule : public ::testing::TestWithParam<Case> {};

TEST_P(EverySchedule, ObeysItsLimitsAndGivesTheSameGradient) {
  const Case& each = GetParam();
  std::int64_t played = 0;
  const auto& entry = *anadrome::schedule::find_stream(each.name);
  const bool searches = is_list(each), reads_once = entry.at_intervals;
  for (const std::int64_t n : kSteps) {
    if (searches && n > 7) continue;
    StreamExecutor reference(limits_of({"store_all", "", each.record}, n, n + 1, 1));
    play("schedule=store_all steps=" + number(n) + " slots=" + number(n + 1) +
             (each.record ? " record=1" : ""),
         reference);
    for (const std::int64_t slots : kSlots) {
      for (const std::int64_t disk_slots : kDiskSlots) {
        for (const std::string& costs : kCosts) {
          const std::string options = options_of(each, number(n), slots, disk_slots, costs);
          if (too_little(options)) continue;
          StreamExecutor executor(limits_of(each, n, slots, disk_slots));
          play(options, executor);
          ASSERT_FALSE(HasFatalFailure());
          EXPECT_EQ(executor.gradient(), reference.gradient()) << options;
          EXPECT_GE(executor.advances(), n) << options;
          EXPECT_TRUE(!reads_once || executor.most_restores() <= 1) << options;
          ++played;
        }
      }
    }
  }
  EXPECT_GT(played, 10);
}

TEST_P(EverySchedule, PlaysWithAnUnknownEndOrSaysThatItCannot) {
  const Case& each = GetParam();
  if (anadrome::schedule::find_stream(each.name)->needs.steps) {
    Opened opened(options_of(each, "unknown", 5, 5, ""));
    EXPECT_EQ(opened.status, ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("number of steps"), std::string::npos);
    return;
  }
  for (const std::int64_t n : kSteps) {
    for (const std::int64_t slots : {std::int64_t{5}, std::int64_t{130}}) {
      if (each.name == "store_all" && slots < 130) continue;
      const std::string options = options_of(each, "unknown", slots, 60, kCosts[1]);
      if (too_little(options)) continue;
      StreamExecutor executor(limits_of(each, n, slots, 60));
      play(options, executor, n);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stream, EverySchedule, ::testing::ValuesIn(cases()), [](const auto& made) {
  std::string name = made.param.name + made.param.words;
  for (char& c : name) c = c == ' ' || c == '=' ? '_' : c;
  return name;
});

TEST(Stream, PlaysBranches) {
  for (const char* objective : {"joint", "reducible"}) {
    for (const char* inputs : {"free", "charged"}) {
      for (const std::int64_t slots : {6, 9, 40}) {
        for (const bool record : {false, true}) {
          Limits limits;
          limits.steps = {7, 1, 12};
          limits.units = slots;
          limits.record = record;
          StreamExecutor executor(limits);
          play("schedule=join steps=7,1,12 slots=" + number(slots) + " objective=" + objective +
                   " inputs=" + inputs + (record ? " record=1" : ""),
               executor);
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

TEST(Stream, PlansFromTheCostsAndSizesOfEachStep) {
  const std::vector<std::int64_t> pages = {3, 1, 1, 5, 2, 1, 4, 1};
  for (const char* name : {"uneven", "least_memory", "offload"}) {
    Limits limits;
    limits.steps = {8};
    limits.transfers = std::string(name) == "offload";
    std::string bytes;
    for (const std::int64_t each : pages) {
      limits.bytes.push_back(each * 4096);
      bytes += (bytes.empty() ? "" : ",") + number(each * 4096);
    }
    limits.bytes.push_back(limits.bytes.back());
    for (const std::int64_t slots : {10, 12, 30}) {
      const std::string options =
          std::string("schedule=") + name + " steps=8 slots=" + number(slots * 4096) +
          " bytes=" + bytes + (limits.transfers ? " uf=1,2,3,4,5,6,7,8 ub=8,7,6,5,4,3,2,1" : "") +
          " write=2 read=1";
      if (std::string(name) == "least_memory" && too_little(options)) continue;
      limits.units = slots * 4096;
      StreamExecutor executor(limits);
      play(options, executor);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(Stream, WritesWhereMemoryIsShort) {
  StreamExecutor executor(limits_of({"overlapped", ""}, 60, 3, 60));
  play("schedule=overlapped steps=60 slots=3 disk_slots=60 uf=1 ub=2 write=1 read=1", executor);
  EXPECT_GT(executor.transfers(), 10);
  StreamExecutor hrevolve(limits_of({"hrevolve", ""}, 60, 3, 4));
  play("schedule=hrevolve steps=60 slots=3 disk_slots=4 write=1 read=1", hrevolve);
  EXPECT_GT(hrevolve.most_on_disk(), 2);
}

TEST(Stream, TakesAsManyStepsAsTheFormulaSays) {
  StreamExecutor executor(limits_of({"revolve", ""}, 100, 7, 1));
  play("schedule=revolve steps=100 slots=7", executor);
  EXPECT_EQ(executor.advances(),
            static_cast<std::int64_t>(anadrome::schedule::extra_advances(101, 7)));
  StreamExecutor taped(limits_of({"revolve", "", true}, 100, 7, 1));
  play("schedule=Revolve  steps=1e2\tslots=7 record=1", taped);
  EXPECT_EQ(taped.advances(),
            100 + static_cast<std::int64_t>(anadrome::schedule::extra_advances(100, 7)));
}

TEST(Stream, GoesThroughManySteps) {
  for (const std::string name : {"revolve", "async", "multistage", "online", "double"}) {
    Opened opened("schedule=" + name + " steps=100000 slots=30 disk_slots=500 write=3 read=3");
    ASSERT_EQ(opened.status, ANADROME_OK) << anadrome_last_error();
    std::int64_t adjoints = 0;
    anadrome_schedule_action action;
    do {
      ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK);
      if (action.kind == ANADROME_SCHEDULE_ADJOINT) ++adjoints;
    } while (action.kind != ANADROME_SCHEDULE_DONE);
    EXPECT_EQ(adjoints, 100'000) << name;
  }
}

struct Wrong {
  const char* options;
  const char* said;
  anadrome_status status = ANADROME_ERR_ARGUMENT;
};

TEST(Stream, SaysWhatIsWrong) {
  const std::vector<Wrong> all = {
      {"schedule=revolve steps=9 slot=3", "there is no option 'slot'; the nearest is 'slots'"},
      {"schedule=hrevolv steps=9 slots=3",
       "there is no schedule 'hrevolv'; the nearest is 'hrevolve'"},
      {"steps=9 slots=3", "option schedule is missing"},
      {"schedule=revolve slots=3", "option steps is missing"},
      {"schedule=revolve steps=9", "option slots is missing"},
      {"schedule=revolve steps=9 slots", "'slots' is not key=value"},
      {"schedule=revolve steps=9 slots=0", "option slots: expected a whole number from 1 to 2^62"},
      {"schedule=revolve steps=-2 slots=3", "option steps: expected a whole number from 0 to 2^62"},
      {"schedule=revolve steps=9,9 slots=3", "is for one branch; take join"},
      {"schedule=revolve steps=9 slots=3 interval=2", "option interval: schedule=revolve has none"},
      {"schedule=revolve steps=9 slots=3 tape_slots=2", "keeps no tapes; take mixed"},
      {"schedule=revolve steps=9 slots=3 stiff=1", "option stiff is for mixed"},
      {"schedule=revolve steps=9 slots=3 record=2", "option record: expected a whole number"},
      {"schedule=revolve steps=9 slots=3 uf=0", "option uf: a step costs 0"},
      {"schedule=revolve steps=9 slots=3 uf=much", "option uf: expected a number of seconds"},
      {"schedule=revolve steps=3 slots=3 uf=1,2,3", "option uf: 3 numbers"},
      {"schedule=revolve steps=9 slots=3 write=1,2", "option write: expected one number"},
      {"schedule=revolve steps=9 slots=3 bytes=1,2", "is for states of one size"},
      {"schedule=uneven steps=3 slots=3 uf=1,2", "takes one for each step"},
      {"schedule=uneven steps=3 slots=3 bytes=1,4,1", "a state has 4"},
      {"schedule=join steps=3,4 slots=9 objective=both", "'both' is not one of joint, reducible"},
      {"schedule=hrevolve steps=9 slots=3 disk_slots=0", "keeps states on disk"},
      {"schedule=hrevolve steps=unknown slots=3", "has to know the number of steps"},
      {"schedule=overlapped steps=1e7 slots=3", "plans less than 1000000 steps"},
      {"schedule=store_all steps=9 slots=8", "raise slots, or take revolve"},
      {"schedule=least_memory steps=900 slots=2", "takes 41 slots"},
      {"schedule=join steps=9,9 slots=1", "slot"},
      {"schedule=double steps=900 slots=1", "takes at least 2 slots"},
      {"schedule=double steps=900 slots=3 interval=9", "slots=3 reverses at most"},
      {"schedule=double steps=900 slots=3 disk_slots=2", "intervals", ANADROME_ERR_NO_SPACE},
  };
  for (const Wrong& wrong : all) {
    Opened opened(wrong.options);
    EXPECT_EQ(opened.status, wrong.status) << wrong.options;
    EXPECT_NE(std::string(anadrome_last_error()).find(wrong.said), std::string::npos)
        << wrong.options << ": " << anadrome_last_error();
    EXPECT_EQ(opened.stream, nullptr);
  }
}

TEST(Stream, SaysWhenTheTapesOfAnUnknownNumberOfStepsFillTheMemory) {
  Opened opened("schedule=store_all steps=unknown slots=27 tape_slots=3");
  ASSERT_EQ(opened.status, ANADROME_OK) << anadrome_last_error();
  anadrome_schedule_action action;
  anadrome_status status;
  int tapes = 0;
  while ((status = anadrome_schedule_next(opened.stream, &action)) == ANADROME_OK) {
    ASSERT_NE(action.kind, ANADROME_SCHEDULE_TURN);
    if (action.kind == ANADROME_SCHEDULE_KEEP) ++tapes;
  }
  EXPECT_EQ(status, ANADROME_ERR_MEMORY) << anadrome_last_error();
  EXPECT_EQ(tapes, 9);
}

TEST(Stream, EndsOnlyWithinTheAdvanceThatIsUnderWay) {
  Opened opened("schedule=revolve steps=unknown slots=4");
  ASSERT_EQ(opened.status, ANADROME_OK);
  EXPECT_EQ(anadrome_schedule_end(opened.stream, 0), ANADROME_ERR_ORDER);
  anadrome_schedule_action action;
  do {
    ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK);
  } while (action.kind != ANADROME_SCHEDULE_ADVANCE || action.first < 3);
  EXPECT_EQ(anadrome_schedule_end(opened.stream, action.first - 1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_end(opened.stream, action.last + 1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_end(opened.stream, action.last), ANADROME_OK);
  EXPECT_EQ(anadrome_schedule_end(opened.stream, action.last), ANADROME_ERR_ORDER) << "twice";
  const std::int64_t n = action.last;
  do {
    ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK);
  } while (action.kind == ANADROME_SCHEDULE_KEEP || action.kind == ANADROME_SCHEDULE_DROP);
  EXPECT_EQ(action.kind, ANADROME_SCHEDULE_TURN);
  EXPECT_EQ(action.first, n);

  Opened known("schedule=revolve steps=9 slots=4");
  ASSERT_EQ(anadrome_schedule_next(known.stream, &action), ANADROME_OK);
  EXPECT_EQ(anadrome_schedule_end(known.stream, 9), ANADROME_ERR_ORDER);
}

TEST(Stream, RefusesNull) {
  anadrome_schedule* stream = nullptr;
  anadrome_schedule_action action;
  EXPECT_EQ(anadrome_schedule_open(nullptr, &stream), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_open("", nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_next(nullptr, &action), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_end(nullptr, 1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_close(nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_schedule_close(&stream), ANADROME_OK) << "closed already";
}

}  // namespace
