// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/trace_json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace anadrome::engine {
namespace {

std::string in_json(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

// Microseconds with nanosecond digits. Ends are rounded, not lengths: events that touch still do.
void put_microseconds(TextOut& out, std::int64_t nanoseconds) {
  out.integer(nanoseconds / 1000).put(".");
  const std::int64_t rest = nanoseconds % 1000;
  out.put(rest < 10 ? "00" : rest < 100 ? "0" : "").integer(rest);
}

std::int64_t nanoseconds_of(double seconds) {
  constexpr double kMost = 9e9;  // 285 years
  return std::llround(std::min(kMost, std::max(0.0, seconds)) * 1e9);
}

}  // namespace

TextOut& TraceJson::next_record() {
  out_.put(first_record_ ? "\n" : ",\n");
  first_record_ = false;
  return out_;
}

void TraceJson::begin(const TraceHeading& heading) {
  heading_ = heading;
  first_record_ = true;
  merged_ = 0;
  out_.put("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
}

void TraceJson::add_metadata(int rank, int thread, const char* name, const char* key,
                             const std::string& json) {
  next_record().put("{\"ph\":\"M\",\"pid\":").integer(rank).put(",\"tid\":").integer(thread);
  out_.put(",\"name\":\"").put(name).put("\",\"args\":{\"").put(key).put("\":").put(json);
  out_.put("}}");
}

void TraceJson::add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged) {
  merged_ += merged;
  add_metadata(rank, 0, "process_name", "name", in_json("rank " + std::to_string(rank)));
  add_metadata(rank, 0, "process_sort_index", "sort_index", std::to_string(rank));
  for (int thread = 0; thread < static_cast<int>(kLanes); ++thread) {
    const auto lane = static_cast<Lane>(thread);
    const bool is_used = std::any_of(events.begin(), events.end(), [&](const TraceEvent& event) {
      return lane_of(event.activity) == lane;
    });
    if (!is_used && lane != Lane::kSolver && lane != Lane::kIo) continue;
    add_metadata(rank, thread, "thread_name", "name", in_json(to_string(lane)));
    add_metadata(rank, thread, "thread_sort_index", "sort_index", std::to_string(thread));
  }
  for (const TraceEvent& event : events) add_event(rank, event);
}

void TraceJson::add_event(int rank, const TraceEvent& event) {
  const std::int64_t start = nanoseconds_of(event.start);
  next_record().put("{\"ph\":\"X\",\"pid\":").integer(rank);
  out_.put(",\"tid\":").integer(static_cast<std::int64_t>(index_of(lane_of(event.activity))));
  out_.put(",\"name\":\"").put(to_string(event.activity)).put("\",\"ts\":");
  put_microseconds(out_, start);
  out_.put(",\"dur\":");
  put_microseconds(out_, std::max(nanoseconds_of(event.end) - start, std::int64_t{0}));
  out_.put(",\"args\":{\"first\":").integer(event.first).put(",\"last\":").integer(event.last);
  out_.put("}}");
}

void TraceJson::end() {
  out_.put("\n],\n\"otherData\":{\"program\":\"anadrome\",\"version\":");
  out_.put(in_json(heading_.version)).put(",\"schedule\":").put(in_json(heading_.schedule));
  out_.put(",\"steps\":").integer(heading_.steps).put(",\"ranks\":").integer(heading_.ranks);
  out_.put(",\"seconds\":").fixed(heading_.seconds, 9);
  out_.put(",\"merged_events\":").integer(merged_).put("}}\n");
  out_.flush();
}

}  // namespace anadrome::engine
