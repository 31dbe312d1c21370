// SPDX-License-Identifier: BSD-2-Clause
// A sweep's events as Chrome trace JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing
// open: a process per rank, in it a thread for the solver, one for I/O, and one for passes if there
// were any. Knows no files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/text_out.h"
#include "engine/sweep/trace.h"

namespace anadrome::engine {

/// begin, add_rank for each rank, end; ranks come one at a time, so that the events of one are
/// enough to hold. Throws what the sink throws; nothing can be added then.
class TraceJson {
 public:
  explicit TraceJson(TextOut::Sink sink) : out_(std::move(sink)) {}

  void begin(const TraceHeading& heading);
  /// `merged`: Trace::merged.
  void add_rank(int rank, std::span<const TraceEvent> events, std::int64_t merged);
  void end();

 private:
  TextOut& next_record();
  void add_metadata(int rank, int thread, const char* name, const char* key,
                    const std::string& json);
  void add_event(int rank, const TraceEvent& event);

  TextOut out_;
  TraceHeading heading_;
  bool first_record_ = true;
  std::int64_t merged_ = 0;
};

}  // namespace anadrome::engine
