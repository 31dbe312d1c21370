// SPDX-License-Identifier: BSD-2-Clause
// Where all ranks of a sweep under way meet: the agreement with everything that a sweep brings to
// it (measured times, transfers that ended, a commit that is due), and takes home.
#pragma once

#include <cstdint>

#include "engine/ranks/agreement.h"

namespace anadrome::engine {

class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Collective. Throws as Agreement::agree does, what this rank holds included.
  virtual Agreement::Output agree(Call call, std::int64_t equal, const char* equal_name,
                                  const Failure& lost) = 0;
  /// A good moment for a commit: at an agreement of this call that came out as `agreed`.
  /// Collective; throws STOPPED where a stop was asked for.
  virtual void commit_if_due(Call call, const Agreement::Output& agreed) = 0;

  Agreement::Output agree(Call call) { return agree(call, 0, "", {}); }
  Agreement::Output agree(Call call, const Failure& lost) { return agree(call, 0, "", lost); }
};

}  // namespace anadrome::engine
