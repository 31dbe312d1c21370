// SPDX-License-Identifier: BSD-2-Clause
#include <anadrome/schedule.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "planners/streams.h"
#include "schedule/words/revolve.h"
#include "schedule/words/rules.h"

namespace {

namespace schedule = anadrome::schedule;

struct Opened {
  explicit Opened(const std::string& options) {
    status = anadrome_schedule_open(options.c_str(), &stream);
  }
  ~Opened() { EXPECT_EQ(anadrome_schedule_close(&stream), ANADROME_OK); }
  Opened(const Opened&) = delete;
  anadrome_schedule* stream = nullptr;
  anadrome_status status;
};

schedule::Action in_words(const anadrome_schedule_action& action) {
  const auto& [kind, what, tier, record, again, reserved, first, last, branch, slot, begin, units,
               rest] = action;
  schedule::Kept kept = {schedule::What::kState, tier, first, slot, {begin, units}};
  if (what == ANADROME_SCHEDULE_TAPE) kept.what = schedule::What::kTape;
  switch (kind) {
    case ANADROME_SCHEDULE_START:
      return schedule::Start{branch, again != 0};
    case ANADROME_SCHEDULE_ADVANCE:
      return schedule::Advance{first, last, branch, record != 0, again != 0};
    case ANADROME_SCHEDULE_KEEP:
      return schedule::Keep{kept};
    case ANADROME_SCHEDULE_RESTORE:
      return schedule::Restore{kept};
    case ANADROME_SCHEDULE_DROP:
      return schedule::Drop{kept};
    case ANADROME_SCHEDULE_WRITE:
      return schedule::Write{kept};
    case ANADROME_SCHEDULE_READ:
      return schedule::Read{kept};
    case ANADROME_SCHEDULE_TURN:
      return schedule::Turn{first, branch, again != 0};
    case ANADROME_SCHEDULE_ADJOINT:
      EXPECT_EQ(last, first + 1);
      return schedule::Adjoint{first, branch};
    default:
      EXPECT_EQ(kind, ANADROME_SCHEDULE_DONE);
      return schedule::Done{};
  }
}

/// A stream whose actions are carried out under the rules of all schedules.
class Player {
 public:
  /// `bytes`: of each state, where they differ.
  explicit Player(schedule::RuleOptions options, std::vector<std::int64_t> bytes = {})
      : options_(std::move(options)), bytes_(std::move(bytes)) {}

  /// To DONE; with an unknown end up to `end`.
  void play(const std::string& options, std::int64_t end = -1) {
    SCOPED_TRACE(options);
    Opened opened(options);
    ASSERT_EQ(opened.status, ANADROME_OK) << anadrome_last_error();
    std::int64_t room = 1;
    if (!bytes_.empty()) options_.state_units = [&](std::int64_t) { return room; };
    schedule::Rules rules(options_);
    std::map<std::int64_t, int> restores;
    bool open_end = end >= 0;
    for (;;) {
      anadrome_schedule_action action;
      ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK)
          << anadrome_last_error();
      if (action.kind == ANADROME_SCHEDULE_DONE) break;
      ASSERT_TRUE(!open_end || action.kind != ANADROME_SCHEDULE_TURN) << "nobody said so";
      if (open_end && action.kind == ANADROME_SCHEDULE_ADVANCE && action.last >= end) {
        ASSERT_EQ(anadrome_schedule_end(opened.stream, end), ANADROME_OK) << anadrome_last_error();
        open_end = false;
        action.last = end;
        if (action.first == end) continue;  // the end shows before a step is taken
      }
      if (action.kind == ANADROME_SCHEDULE_RESTORE && action.tier == 1)
        most_restores = std::max(most_restores, ++restores[action.slot]);
      if (action.kind == ANADROME_SCHEDULE_KEEP && !bytes_.empty()) {
        ASSERT_GE(action.units, bytes_[static_cast<std::size_t>(action.first)]);
      }
      room = action.units;
      try {
        rules.play(in_words(action));
      } catch (const std::exception& broken) {
        FAIL() << broken.what();
      }
    }
    taken = rules.taken();
    EXPECT_EQ(taken.adjoints, std::reduce(options_.steps.begin(), options_.steps.end()));
    anadrome_schedule_action action;
    ASSERT_EQ(anadrome_schedule_next(opened.stream, &action), ANADROME_OK);
    EXPECT_EQ(action.kind, ANADROME_SCHEDULE_DONE) << "DONE again";
  }
  std::int64_t steps_run() const { return taken.advances + taken.recorded; }

  schedule::Taken taken;
  int most_restores = 0;  ///< of one state from disk

 private:
  schedule::RuleOptions options_;
  std::vector<std::int64_t> bytes_;
};

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

schedule::RuleOptions rules_of(const Case& each, std::int64_t steps, std::int64_t slots,
                               std::int64_t disk_slots) {
  schedule::RuleOptions options;
  options.steps = {steps};
  options.units = slots;
  options.disk_slots = disk_slots;
  options.record = each.record;
  options.tape_units = each.tape_units;
  options.tape_restarts = each.words.find("stiff") != std::string::npos;
  options.transfers = is_list(each);
  options.anchors_stay = each.name == "async";
  return options;
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
  for (const auto& entry : schedule::streams()) {
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
    if (entry.tapes != schedule::KeptTapes::kNone) {
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

TEST_P(EverySchedule, ObeysItsLimitsAndBringsWhatEachAdjointNeeds) {
  const Case& each = GetParam();
  std::int64_t played = 0;
  const auto& entry = *schedule::find_stream(each.name);
  const bool searches = is_list(each), reads_once = entry.at_intervals;
  for (const std::int64_t n : kSteps) {
    if (searches && n > 7) continue;
    for (const std::int64_t slots : kSlots) {
      for (const std::int64_t disk_slots : kDiskSlots) {
        for (const std::string& costs : kCosts) {
          const std::string options = options_of(each, number(n), slots, disk_slots, costs);
          if (too_little(options)) continue;
          Player player(rules_of(each, n, slots, disk_slots));
          player.play(options);
          ASSERT_FALSE(HasFailure());
          EXPECT_GE(player.steps_run(), n) << options;
          EXPECT_TRUE(!reads_once || player.most_restores <= 1) << options;
          ++played;
        }
      }
    }
  }
  EXPECT_GT(played, 10);
}

TEST_P(EverySchedule, PlaysWithAnUnknownEndOrSaysThatItCannot) {
  const Case& each = GetParam();
  if (schedule::find_stream(each.name)->needs.steps) {
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
      Player(rules_of(each, n, slots, 60)).play(options, n);
      ASSERT_FALSE(HasFailure());
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
          schedule::RuleOptions options = rules_of({"join", "", record}, 0, slots, 1);
          options.steps = {7, 1, 12};
          options.branches = true;
          options.starts_free = std::string(inputs) == "free";
          options.ends_first = std::string(objective) == "joint";
          Player(options).play("schedule=join steps=7,1,12 slots=" + number(slots) + " objective=" +
                               objective + " inputs=" + inputs + (record ? " record=1" : ""));
          ASSERT_FALSE(HasFailure());
        }
      }
    }
  }
}

TEST(Stream, PlansFromTheCostsAndSizesOfEachStep) {
  const std::vector<std::int64_t> pages = {3, 1, 1, 5, 2, 1, 4, 1};
  for (const std::string name : {"uneven", "least_memory", "offload"}) {
    std::vector<std::int64_t> sizes;
    std::string bytes;
    for (const std::int64_t each : pages) {
      sizes.push_back(each * 4096);
      bytes += (bytes.empty() ? "" : ",") + number(each * 4096);
    }
    sizes.push_back(sizes.back());
    for (const std::int64_t slots : {10, 12, 30}) {
      const std::string options =
          "schedule=" + name + " steps=8 slots=" + number(slots * 4096) + " bytes=" + bytes +
          (name == "offload" ? " uf=1,2,3,4,5,6,7,8 ub=8,7,6,5,4,3,2,1" : "") + " write=2 read=1";
      if (name == "least_memory" && too_little(options)) continue;
      Player(rules_of({name, ""}, 8, slots * 4096, schedule::kNoLimit), sizes).play(options);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(Stream, WritesWhereMemoryIsShort) {
  Player player(rules_of({"overlapped", ""}, 60, 3, 60));
  player.play("schedule=overlapped steps=60 slots=3 disk_slots=60 uf=1 ub=2 write=1 read=1");
  EXPECT_GT(player.taken.writes + player.taken.reads, 10);
  Player hrevolve(rules_of({"hrevolve", ""}, 60, 3, 4));
  hrevolve.play("schedule=hrevolve steps=60 slots=3 disk_slots=4 write=1 read=1");
  EXPECT_GT(hrevolve.taken.most_disk_slots, 2);
}

TEST(Stream, TakesAsManyStepsAsTheFormulaSays) {
  Player player(rules_of({"revolve", ""}, 100, 7, 1));
  player.play("schedule=revolve steps=100 slots=7");
  EXPECT_EQ(player.steps_run(), static_cast<std::int64_t>(schedule::extra_advances(101, 7)));
  Player taped(rules_of({"revolve", "", true}, 100, 7, 1));
  taped.play("schedule=Revolve  steps=1e2\tslots=7 record=1");
  EXPECT_EQ(taped.steps_run(), 100 + static_cast<std::int64_t>(schedule::extra_advances(100, 7)));
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
