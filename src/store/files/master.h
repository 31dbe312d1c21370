// SPDX-License-Identifier: BSD-2-Clause
// The one file a reader opens after a run with keep=on: every kept state of every rank and segment
// as one virtual dataset per field, whatever the layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <anadrome/field.h>

#include "store/files/directory.h"

namespace anadrome::store {

/// One rank's part of one field, in every segment.
struct MasterPart {
  std::int64_t count = 0;           ///< elements of one state
  std::int64_t stride = 0;          ///< elements from one state to the next
  std::int64_t strides_before = 0;  ///< sum of the strides of the lower ranks in the same file
  std::int64_t file = 0;            ///< which file of a segment: index into MasterSegment::files
};

struct MasterField {
  std::string name;
  anadrome_type type = ANADROME_BYTE;
  std::vector<MasterPart> parts;  ///< per rank of the run
};

struct MasterSegment {
  std::vector<std::string> files;  ///< names relative to the master
  std::int64_t slots = 0;          ///< that there is room for
  std::int64_t slots_used = 0;
};

struct MasterDescription {
  std::string run_id;
  std::string schedule;
  std::int64_t steps = 0;
  std::vector<MasterField> fields;
  std::vector<MasterSegment> segments;
  std::vector<std::int64_t> slot_steps;  ///< step of each state, in the order of the slots
};

/// Create the master file at `place`. Throws as create_segment does.
void create_master(const FilePlace& place, const MasterDescription& description);

}  // namespace anadrome::store
