// SPDX-License-Identifier: BSD-2-Clause
// From options and fields to a sweep that can start. Everything here is collective: what one rank
// meets alone (no memory, say) is held until the next agreement, and until then this rank takes
// part in whatever the others do.
#pragma once

#include "engine/disk/storage.h"
#include "engine/keep/keeper.h"
#include "engine/plan/choice.h"
#include "engine/plan/planning.h"
#include "engine/resume/resumption.h"
#include "engine/sweep/context.h"
#include "engine/undo/undoing.h"

namespace anadrome::engine {

class Beginning {
 public:
  Beginning(Context& context, Storage& storage, Planning& planning, Keeper& keeper, Choice& choice,
            Resumption& resumption, Undoing& undoing)
      : context_(context),
        storage_(storage),
        planning_(planning),
        keeper_(keeper),
        choice_(choice),
        resumption_(resumption),
        undoing_(undoing) {}

  /// `earlier`: what this rank found wrong before. Where it throws, on all ranks, parts of a sweep
  /// may be left.
  void begin(std::int64_t steps, const Options& options, const Failure& earlier);

 private:
  void agree();
  Failure fault(std::int64_t steps) const;
  void begin_state(const Options& options);
  void compare_ranks(std::int64_t steps, const Options& options);
  void leave_again();
  bool uses_directory() const;
  void prepare_disk(bool disk_changes);
  void make_sweep();
  void start();

  Context& context_;
  Storage& storage_;
  Planning& planning_;
  Keeper& keeper_;
  Choice& choice_;
  Resumption& resumption_;
  Undoing& undoing_;
};

}  // namespace anadrome::engine
