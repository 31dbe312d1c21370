// SPDX-License-Identifier: BSD-2-Clause
// Streams do what `anadrome count --actions` prints: n steps of a stream are n + 1 of the command,
// TURN being the adjoint of the last; with tapes they are n.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "planners/stream.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

using schedule::Action;

enum class Compared { kAll, kWithoutPlaces, kSteps };

// What the command would print, or a part of it.
std::string text_of(const ActionSource& next, Compared compared) {
  std::string text;
  TextOut out([&](std::string_view chunk) { text += chunk; });
  const auto some = [&] {
    for (;;) {
      Action action = next();
      schedule::Kept* const kept = schedule::kept_of(action);
      const bool is_step = kept == nullptr && !std::holds_alternative<schedule::Turn>(action);
      if (compared == Compared::kSteps && !is_step) continue;
      if (kept != nullptr && compared != Compared::kAll) *kept = {kept->what, 0, kept->step};
      return action;
    }
  };
  write_actions(some, out);
  return text;
}

std::string of_stream(const std::string& options, Compared compared, std::int64_t end = -1) {
  schedule::Stream stream{schedule::StreamOptions(options)};
  const bool record = schedule::StreamOptions(options).record;
  bool ended = end < 0;
  const auto next = [&]() -> Action {
    for (;;) {
      Action action = stream.next();
      auto* const run = std::get_if<schedule::Advance>(&action);
      if (!ended && run != nullptr && run->last >= end) {
        stream.end(end);
        run->last = end;
        ended = true;
      }
      const auto* const turn = std::get_if<schedule::Turn>(&action);
      if (turn == nullptr) return action;
      if (!record) return schedule::Adjoint{turn->step};
    }
  };
  return text_of(next, compared);
}

std::string of_command(const char* name, const Problem& problem, Compared compared) {
  return text_of(schedule_named("SCHEDULE", name).actions(problem), compared);
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
      std::string command =
          of_command("overlapped", problem_of(n + 1, slots, kNoLimit), Compared::kWithoutPlaces);
      const std::size_t last = command.rfind(R"({"action": "drop", "step": 0,)");
      if (last != std::string::npos) command.erase(last, command.find('\n', last) + 1 - last);
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
