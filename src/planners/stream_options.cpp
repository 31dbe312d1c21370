// SPDX-License-Identifier: BSD-2-Clause
#include "planners/stream.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/words.h"

namespace anadrome::schedule {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ANADROME_ERR_ARGUMENT, why); }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

const StreamEntry* schedule_named(std::string_view text) {
  if (const StreamEntry* entry = find_stream(in_small_letters(text))) return entry;
  std::vector<std::string_view> names;
  for (const StreamEntry& entry : streams()) names.emplace_back(entry.name);
  refuse("option schedule: there is no schedule " + quoted(text) + "; the nearest is " +
         quoted(nearest(names, in_small_letters(text))));
}

// Values that commas separate.
template <class Value, class Read>
std::vector<Value> list(std::string_view text, const Read& read) {
  std::vector<Value> values;
  for (;;) {
    const auto comma = text.find(',');
    values.push_back(read(text.substr(0, comma)));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

std::int64_t count(std::string_view option, std::string_view text, std::int64_t least,
                   std::int64_t most = kMostSteps) {
  return parse_count("option " + std::string(option), text, least, most);
}

bool is_second(std::string_view option, std::string_view text, std::string_view first,
               std::string_view second) {
  const std::string word = in_small_letters(text);
  if (word == second) return true;
  if (word == first) return false;
  refuse("option " + std::string(option) + ": " + quoted(text) + " is not one of " +
         std::string(first) + ", " + std::string(second));
}

std::vector<std::int64_t> steps_of(std::string_view text) {
  if (in_small_letters(text) == "unknown") return {kUnknown};
  return list<std::int64_t>(text, [](std::string_view each) { return count("steps", each, 0); });
}

std::vector<double> costs(std::string_view option, std::string_view text) {
  return list<double>(text, [option](std::string_view each) {
    try {
      return parse_seconds(each);
    } catch (const Error& error) {
      refuse("option " + std::string(option) + ": " + error.what());
    }
  });
}

double cost(std::string_view option, std::string_view text) {
  const std::vector<double> all = costs(option, text);
  if (all.size() > 1) refuse("option " + std::string(option) + ": expected one number");
  return all.front();
}

struct Word {
  std::string_view name;
  void (*read)(StreamOptions& options, std::string_view name, std::string_view value);
};

using Text = std::string_view;

constexpr std::array<Word, 15> kWords = {{
    {"schedule", [](StreamOptions& o, Text, Text v) { o.schedule = schedule_named(v); }},
    {"steps", [](StreamOptions& o, Text, Text v) { o.steps = steps_of(v); }},
    {"slots", [](StreamOptions& o, Text w, Text v) { o.slots = count(w, v, 1); }},
    {"disk_slots",
     [](StreamOptions& o, Text w, Text v) {
       o.disk_slots = in_small_letters(v) == "unlimited" ? kNoLimit : count(w, v, 0);
     }},
    {"interval", [](StreamOptions& o, Text w, Text v) { o.interval = count(w, v, 1); }},
    {"tape_slots", [](StreamOptions& o, Text w, Text v) { o.tape_slots = count(w, v, 1); }},
    {"record", [](StreamOptions& o, Text w, Text v) { o.record = count(w, v, 0, 1) == 1; }},
    {"stiff", [](StreamOptions& o, Text w, Text v) { o.tape_restarts = count(w, v, 0, 1) == 1; }},
    {"objective",
     [](StreamOptions& o, Text w, Text v) { o.reducible = is_second(w, v, "joint", "reducible"); }},
    {"inputs", [](StreamOptions& o, Text w,
                  Text v) { o.charged_inputs = is_second(w, v, "free", "charged"); }},
    {"uf", [](StreamOptions& o, Text w, Text v) { o.advance = costs(w, v); }},
    {"ub", [](StreamOptions& o, Text w, Text v) { o.adjoint = costs(w, v); }},
    {"write", [](StreamOptions& o, Text w, Text v) { o.write = cost(w, v); }},
    {"read", [](StreamOptions& o, Text w, Text v) { o.read = cost(w, v); }},
    {"bytes",
     [](StreamOptions& o, Text w, Text v) {
       o.bytes = list<std::int64_t>(v, [w](Text each) { return count(w, each, 1); });
     }},
}};

const Word& word_named(std::string_view name) {
  std::array<std::string_view, kWords.size()> names;
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i].name == name) return kWords[i];
    names[i] = kWords[i].name;
  }
  refuse("there is no option " + quoted(name) + "; the nearest is " + quoted(nearest(names, name)));
}

}  // namespace

StreamOptions::StreamOptions(std::string_view text) {
  each_setting(text, [this](std::string_view name, std::string_view value) {
    word_named(name).read(*this, name, value);
  });
  check();
}

void StreamOptions::check() {
  if (schedule == nullptr) refuse("option schedule is missing: its name, for example revolve");
  const std::string name = std::string("schedule=") + schedule->name;
  check_steps();
  if (slots == 0) refuse("option slots is missing: how many states fit in RAM");
  if (disk_slots == 0 && schedule->needs.on_disk != StreamOnDisk::kNothing) {
    refuse(name + " keeps states on disk: raise disk_slots, or take revolve");
  }
  if (interval > 0 && !schedule->at_intervals) refuse("option interval: " + name + " has none");
  if (tape_slots > 0 && schedule->tapes == KeptTapes::kNone) {
    refuse("option tape_slots: " + name + " keeps no tapes; take mixed");
  }
  if (tape_restarts && !schedule->needs.tape) refuse("option stiff is for mixed");
  if (schedule->needs.tape) tape_slots = std::max<std::int64_t>(tape_slots, 1);
  record = record || tape_slots > 0;
  check_costs();
}

void StreamOptions::check_steps() const {
  const std::string name = std::string("schedule=") + schedule->name;
  if (steps.empty()) refuse("option steps is missing: a number, or unknown");
  if (steps.size() > 1 && !schedule->needs.branches) refuse(name + " is for one branch; take join");
  const bool known = std::count(steps.begin(), steps.end(), kUnknown) == 0;
  if (schedule->needs.steps && !known) {
    refuse(name + " has to know the number of steps; take async, revolve or store_all");
  }
  if (steps.front() > schedule->needs.most_steps) refuse(name + " " + schedule->needs.limit);
}

// One number for all steps, or one for each step of a schedule that plans from these.
void StreamOptions::check_costs() {
  const StepNumbers& planned = schedule->needs.each_step;
  const auto fits = [this](const char* option, std::size_t size, bool each) {
    const auto n = static_cast<std::size_t>(steps.front());
    if (each && size == n) return;
    refuse(std::string("option ") + option + ": " + std::to_string(size) + " numbers; schedule=" +
           schedule->name + " takes " + (each ? "one for each step" : "one"));
  };
  if (advance.size() != 1) fits("uf", advance.size(), planned.costs);
  if (adjoint.size() != 1) fits("ub", adjoint.size(), planned.adjoint_costs);
  if (*std::max_element(advance.begin(), advance.end()) <= 0) refuse("option uf: a step costs 0");
  if (bytes.empty()) return;
  if (!planned.sizes)
    refuse(std::string("option bytes: schedule=") + schedule->name +
           " is for states of one size; take uneven");
  fits("bytes", bytes.size(), true);
  const std::int64_t largest = *std::max_element(bytes.begin(), bytes.end());
  if (largest > slots) {
    refuse("option slots: " + std::to_string(slots) + " bytes, and a state has " +
           std::to_string(largest));
  }
}

}  // namespace anadrome::schedule
