// SPDX-License-Identifier: BSD-2-Clause
// Streams do what `anadrome count --actions` prints: n steps of a stream are n + 1 of the command,
// TURN being the adjoint of the last; with tapes they are n.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "planners/stream.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

using schedule::Action;

std::string in_words(const Action& action, bool with_places) {
  static constexpr std::array<const char*, 11> kNames = {"start", "advance", "keep", "restore",
                                                         "drop",  "write",   "read", "decide",
                                                         "turn",  "adjoint", "done"};
  std::ostringstream words;
  words << kNames.at(action.index());
  std::visit(
      [&]<class Any>(const Any& any) {
        if constexpr (std::is_same_v<Any, schedule::Advance>) {
          words << ' ' << any.first << ' ' << any.last << (any.record ? " record" : "");
        } else if constexpr (std::is_same_v<Any, schedule::Adjoint>) {
          words << ' ' << any.step;
        } else if constexpr (std::is_base_of_v<schedule::Kept, Any>) {
          words << ' ' << any.step;
          if (!with_places) return;
          words << (any.what == schedule::What::kTape ? " tape " : " ") << any.tier << ' '
                << any.place;
        }
      },
      action);
  return words.str();
}

bool is_step(const Action& action) {
  return std::holds_alternative<schedule::Advance>(action) ||
         std::holds_alternative<schedule::Adjoint>(action);
}

enum class Compared { kAll, kWithoutPlaces, kSteps };

using Words = std::vector<std::string>;

void add(Words& words, const Action& action, Compared compared) {
  if (compared == Compared::kSteps && !is_step(action)) return;
  words.push_back(in_words(action, compared == Compared::kAll));
}

Words of_stream(const std::string& options, Compared compared, std::int64_t end = -1) {
  schedule::Stream stream{schedule::StreamOptions(options)};
  const bool record = schedule::StreamOptions(options).record;
  Words words;
  bool ended = end < 0;
  for (Action action = stream.next(); !std::holds_alternative<schedule::Done>(action);
       action = stream.next()) {
    if (auto* const run = std::get_if<schedule::Advance>(&action); !ended && run != nullptr) {
      if (run->last >= end) {
        stream.end(end);
        run->last = end;
        ended = true;
      }
    }
    const auto* const turn = std::get_if<schedule::Turn>(&action);
    if (turn != nullptr && record) continue;
    add(words, turn != nullptr ? Action{schedule::Adjoint{turn->step}} : action, compared);
  }
  return words;
}

Words of_command(const char* name, const Problem& problem, Compared compared) {
  Words words;
  const ActionSource next = schedule_named("SCHEDULE", name).actions(problem);
  for (Action action = next(); !std::holds_alternative<schedule::Done>(action); action = next()) {
    add(words, action, compared);
  }
  return words;
}

constexpr std::array<std::int64_t, 6> kSteps = {1, 2, 3, 8, 20, 61};
constexpr std::array<std::int64_t, 5> kSlots = {2, 3, 5, 8, 70};
constexpr std::array<std::int64_t, 3> kDiskSlots = {1, 3, 70};

std::string number(std::int64_t value) { return std::to_string(value); }

std::string options_of(const char* name, const std::string& steps, std::int64_t slots,
                       std::int64_t disk_slots) {
  return std::string("schedule=") + name + " steps=" + steps + " slots=" + number(slots) +
         " disk_slots=" + number(disk_slots) + " uf=1 ub=2 write=3 read=2";
}

Problem problem_of(std::int64_t steps, std::int64_t slots, std::int64_t disk_slots) {
  Problem problem;
  problem.steps = steps;
  problem.slots = slots;
  problem.disk_slots = disk_slots;
  problem.prices = {{1, 0}, {2, 0}, {3, 0}, {2, 0}};
  return problem;
}

template <class Compare>
void with_all(const Compare& compare) {
  for (const std::int64_t n : kSteps) {
    for (const std::int64_t slots : kSlots) {
      for (const std::int64_t disk_slots : kDiskSlots) compare(n, slots, disk_slots);
    }
  }
}

TEST(StreamAndCount, AreTheSameWhereStatesOnDiskReplaceEachOther) {
  for (const char* name : {"revolve", "multistage", "hrevolve"}) {
    with_all([&](std::int64_t n, std::int64_t slots, std::int64_t disk_slots) {
      const std::string options = options_of(name, number(n), slots, disk_slots);
      EXPECT_EQ(of_stream(options, Compared::kAll),
                of_command(name, problem_of(n + 1, slots, disk_slots), Compared::kAll))
          << options;
    });
  }
  for (const std::int64_t n : kSteps) {
    EXPECT_EQ(of_stream(options_of("disk_revolve", number(n), 3, 70), Compared::kAll),
              of_command("disk_revolve", problem_of(n + 1, 3, 70), Compared::kAll));
    EXPECT_EQ(of_stream(options_of("store_all", number(n), 70, 1), Compared::kAll),
              of_command("store_all", problem_of(n + 1, 70, 1), Compared::kAll));
    EXPECT_EQ(of_stream(options_of("least_memory", number(n), 70, 1), Compared::kAll),
              of_command("least_memory", problem_of(n + 1, 70, 1), Compared::kAll));
  }
}

TEST(StreamAndCount, AreTheSameWithTapes) {
  for (const bool restarts : {false, true}) {
    for (const std::int64_t tape : {1, 2}) {
      with_all([&](std::int64_t n, std::int64_t slots, std::int64_t) {
        Problem problem = problem_of(n, slots, 1);
        problem.tape_slots = tape;
        problem.tape_restarts = restarts;
        const std::string options = options_of("mixed", number(n), slots, 1) +
                                    " tape_slots=" + number(tape) + (restarts ? " stiff=1" : "");
        EXPECT_EQ(of_stream(options, Compared::kAll), of_command("mixed", problem, Compared::kAll))
            << options;
      });
    }
  }
}

TEST(StreamAndCount, AreTheSameForAnUnknownEnd) {
  with_all([&](std::int64_t n, std::int64_t slots, std::int64_t) {
    for (const char* name : {"online", "revolve"}) {
      EXPECT_EQ(of_stream(options_of(name, "unknown", slots, 1), Compared::kAll, n),
                of_command("online", problem_of(n + 1, slots, 1), Compared::kAll));
    }
  });
}

TEST(StreamAndCount, AreTheSameForStepsAndStatesThatDiffer) {
  for (const std::int64_t slots : {20, 40, 200}) {
    Problem problem = problem_of(24, slots, 1);
    problem.record = true;
    std::string costs, bytes;
    for (std::int64_t k = 0; k < problem.steps; ++k) {
      problem.step_costs.push_back({std::int64_t{1} << (k * 7 % 5), 0});
      problem.state_bytes.push_back(1 + k * 5 % 9);
      costs += (k > 0 ? "," : "") + number(problem.step_costs.back().value);
      bytes += (k > 0 ? "," : "") + number(problem.state_bytes.back());
    }
    EXPECT_EQ(of_stream("schedule=uneven record=1 steps=24 slots=" + number(slots) +
                            " uf=" + costs + " bytes=" + bytes,
                        Compared::kAll),
              of_command("uneven", problem, Compared::kAll));
  }
}

// The command drops x_0 at last.
TEST(StreamAndCount, HaveTheSamePlansOfTransfers) {
  for (const std::int64_t n : {1, 2, 3, 8, 20}) {
    for (const std::int64_t slots : {2, 3, 5}) {
      Words command =
          of_command("overlapped", problem_of(n + 1, slots, kNoLimit), Compared::kWithoutPlaces);
      const auto last = std::find(command.rbegin(), command.rend(), "drop 0");
      if (last != command.rend()) command.erase(std::next(last).base());
      EXPECT_EQ(
          of_stream(options_of("overlapped", number(n), slots, 1000), Compared::kWithoutPlaces),
          command)
          << n << " steps, " << slots << " slots";
    }
  }
}

// Where transfers are hidden behind the steps. Of the anchors the stream says what the command
// leaves out: that the one in use is in a slot.
TEST(StreamAndCount, RunTheSameStepsBetweenAnchors) {
  with_all([&](std::int64_t n, std::int64_t slots, std::int64_t) {
    for (const std::int64_t interval : {4, 7}) {
      Problem problem = problem_of(n + 1, slots, kNoLimit);
      problem.interval = interval;
      const std::string words = " interval=" + number(interval);
      EXPECT_EQ(of_stream(options_of("async", number(n), slots, 1000) + words, Compared::kSteps),
                of_command("async", problem, Compared::kSteps));
      if (slots <= interval || n < interval) continue;
      --problem.slots;
      EXPECT_EQ(of_stream(options_of("double", number(n), slots, 1000) + words, Compared::kSteps),
                of_command("double", problem, Compared::kSteps))
          << n << words;
    }
  });
}

}  // namespace
}  // namespace anadrome::tool
