// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/recorded_sweep.h"

#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::tool {
namespace {

using Json = nlohmann::json;

// Called by the parser for every value as it comes.
class TraceReader : public nlohmann::json_sax<Json> {
 public:
  TraceReader(RecordedSweep& sweep, const std::string& name) : sweep_(sweep), name_(name) {}

  bool is_complete() const { return ours_ && has_events_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return number(real(value), value); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(INT64_MAX);
    return number(real(value), static_cast<std::int64_t>(std::min(value, kMost)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    constexpr double kMost = 9e18;
    const bool fits = std::fabs(value) < kMost;
    return number(value, fits ? static_cast<std::int64_t>(value) : -1);
  }
  bool string(string_t& text) override {
    if (in_heading()) {
      if (key_ == "program") ours_ = text == "anadrome";
      if (key_ == "version") sweep_.heading.version = text;
      if (key_ == "schedule") sweep_.heading.schedule = text;
    } else if (in_event()) {
      if (key_ == "ph") event_.phase = text;
      if (key_ == "name") event_.name = text;
    }
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& text) override {
    if (depth_ == 1) section_ = text;
    key_ = text;
    return true;
  }
  bool start_object(std::size_t) override {
    ++depth_;
    if (in_event()) event_ = {};
    return true;
  }
  bool end_object() override {
    if (in_event()) finish_event();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    has_events_ = has_events_ || (depth_ == 2 && section_ == "traceEvents");
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const Json::exception&) override {
    refuse("it is no JSON from byte " + std::to_string(byte) + " on");
  }

 private:
  // {"traceEvents": [{.., "args": {..}}], "otherData": {..}}
  bool in_heading() const { return depth_ == 2 && section_ == "otherData"; }
  bool in_event() const { return depth_ == 3 && section_ == "traceEvents"; }
  bool in_arguments() const { return depth_ == 4 && section_ == "traceEvents"; }

  bool number(double value, std::int64_t whole) {
    if (in_heading()) {
      if (key_ == "steps") sweep_.heading.steps = whole;
      if (key_ == "ranks") sweep_.heading.ranks = rank_of(whole);
      if (key_ == "seconds") sweep_.heading.seconds = value;
      if (key_ == "merged_events") sweep_.merged = whole;
    } else if (in_event()) {
      if (key_ == "pid") event_.rank = rank_of(whole);
      if (key_ == "ts") event_.microseconds = value;
      if (key_ == "dur") event_.duration = value;
    } else if (in_arguments()) {
      if (key_ == "first") event_.first = whole;
      if (key_ == "last") event_.last = whole;
    }
    return true;
  }

  int rank_of(std::int64_t number) const {
    if (number < 0 || number > INT32_MAX) refuse("there is no rank " + std::to_string(number));
    return static_cast<int>(number);
  }

  void finish_event() {
    const auto [known, is_new] = place_of_rank_.try_emplace(event_.rank, sweep_.ranks);
    if (is_new) {
      ++sweep_.ranks;
      if (sweep_.first_ranks.size() < RecordedSweep::kMostRanks) {
        sweep_.first_ranks.push_back({event_.rank, {}});
      }
    }
    if (event_.phase != "X") return;
    constexpr double kMost = 9e15;  // 285 years
    const double end = event_.microseconds + event_.duration;
    if (!(event_.microseconds >= 0 && event_.duration >= 0 && end <= kMost)) {
      refuse("an event is at no time");
    }
    const TraceEvent event = {event_.microseconds / 1e6, end / 1e6, event_.first, event_.last,
                              activity_of_name(),        {}};
    sweep_.seconds[index_of(event.activity)] += event.end - event.start;
    const auto place = size(known->second);
    if (place < sweep_.first_ranks.size()) sweep_.first_ranks[place].events.push_back(event);
  }

  Activity activity_of_name() const {
    for (std::size_t i = 0; i < kActivities; ++i) {
      const auto activity = static_cast<Activity>(i);
      if (event_.name == engine::to_string(activity)) return activity;
    }
    refuse("'" + event_.name + "' is nothing that a run does");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ANADROME_ERR_ARGUMENT, name_ + " is no trace of anadrome: " + why);
  }

  struct Event {
    std::string phase, name;
    int rank = 0;
    double microseconds = -1, duration = -1;
    std::int64_t first = 0, last = 0;
  };

  RecordedSweep& sweep_;
  const std::string& name_;
  int depth_ = 0;
  std::string section_;  ///< the key of the outermost object that is being read
  std::string key_;
  Event event_;
  std::map<int, int> place_of_rank_;  ///< in the order in which they came
  bool ours_ = false, has_events_ = false;
};

}  // namespace

RecordedSweep read_trace(std::istream& file, const std::string& name) {
  RecordedSweep sweep;
  TraceReader reader(sweep, name);
  try {
    Json::sax_parse(file, &reader);
  } catch (const std::ios_base::failure&) {  // a folder, a broken disk
    throw Error(ANADROME_ERR_ARGUMENT, name + " cannot be read");
  }
  if (!reader.is_complete()) {
    throw Error(ANADROME_ERR_ARGUMENT, name + " is no trace of anadrome: give what trace= wrote");
  }
  return sweep;
}

}  // namespace anadrome::tool
