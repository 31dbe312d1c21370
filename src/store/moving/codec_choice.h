// SPDX-License-Identifier: BSD-2-Clause
// Which of several codecs writes a block: the one whose blocks took least time so far.
//
// The time of a block has everything in it: the codec, the disk, what others do to it. Each codec
// has a few blocks at first; later one in many goes to another than the quickest, since states and
// disks change. Where every core computes, what a codec computes is the solver's time, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/moving/codec.h"

namespace anadrome::store {

/// Used by the I/O thread.
class CodecChoice {
 public:
  /// `candidates`: one at least.
  CodecChoice(std::span<const CodecName> candidates, bool cores_are_busy);

  /// The next block's.
  CodecName next();
  /// A block of the codec that next() named took so long, of which the thread computed so long.
  void note(double seconds, double computed, std::int64_t bytes);

 private:
  struct Candidate {
    CodecName codec;
    std::int64_t blocks = 0;
    double seconds_per_byte = 0;
  };
  std::size_t quickest() const;

  const bool cores_are_busy_;
  std::vector<Candidate> candidates_;
  std::size_t current_ = 0;
  std::int64_t blocks_ = 0;
};

}  // namespace anadrome::store
