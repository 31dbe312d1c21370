// A model machine that plays the actions of a Sequence and breaks, with std::logic_error, on any
// rule they break. It knows the rules of action.h only, and nothing of how a Sequence finds its
// actions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schedule/sequence.h"

namespace anadrome::schedule {

/// The answer to kDecide: an interval, or a probe of so many steps.
struct Answer {
  bool probe = false;
  std::int64_t steps = 1;
};

struct ReplayOptions {
  std::int64_t steps = 0;       ///< n: where the model ends, known to the Sequence or not
  bool record = false;          ///< the Sequence's option of this name
  std::int64_t tape_units = 0;  ///< and of this one
  bool finish_late = false;     ///< unknown n: the end shows in the advance that would begin at x_n
  bool steady = false;          ///< all answers of `decide` are the same interval
  std::function<Answer(std::int64_t live)> decide;
};

/// What one sweep took.
struct Totals {
  std::int64_t advances = 0;  ///< steps of all kAdvance, recorded ones included
  std::int64_t recorded = 0;  ///< of these, recorded
  std::int64_t keeps = 0, restores = 0, drops = 0;
  std::int64_t anchors = 0, anchor_restores = 0;
  std::int64_t decisions = 0;
};

class Machine {
 public:
  Machine(Sequence& sequence, const ReplayOptions& options);

  /// Plays to kDone. Every promise that was made on the way has been compared with what came.
  Totals sweep();

  /// Sequence::rewind, then another reverse sweep.
  Totals rewind(std::int64_t anchors);

 private:
  /// What advances_remaining and adjoints_remaining said, and when.
  struct Promise {
    std::int64_t advances, adjoints;  ///< promised
    std::int64_t advanced, adjoined;  ///< taken before
    std::int64_t decisions;           ///< answered before
    bool end_known, must_be_known;
  };
  struct Anchor {
    std::int64_t step;
    bool dropped;
  };

  void play(const Action& action);
  void advance(const Action& action);
  void finish_if_the_end_is_reached(const Action& action);
  void keep(const Action& action);
  void tape(const Action& action);
  void restore(const Action& action);
  void drop(const Action& action);
  void anchor(const Action& action);
  void restore_anchor(const Action& action);
  void drop_anchor(const Action& action);
  void decide(const Action& action);
  void turn(const Action& action);
  void adjoint(const Action& action);
  void check_end();
  void note_promise();
  void check_promises() const;
  std::optional<std::int64_t>& slot_of(const Action& action);
  Anchor& anchor_of(const Action& action);
  void require_live(const Action& action) const;
  [[noreturn]] void broken(const std::string& rule) const;

  Sequence& sequence_;
  ReplayOptions options_;
  bool open_end_;                                   ///< the Sequence began without knowing n
  std::optional<std::int64_t> live_ = 0;            ///< step of the live state
  std::optional<std::int64_t> tape_;                ///< step whose tape is in the fields
  std::vector<std::optional<std::int64_t>> slots_;  ///< grows on demand, to s - 1 at most
  std::vector<Anchor> anchors_;
  std::int64_t run_before_ = 0;  ///< steps below this one were run at least once
  std::int64_t next_adjoint_ = 0;
  bool turned_ = false;
  std::int64_t idle_ = 0;  ///< actions since the last one that makes progress
  std::int64_t played_ = 0;
  Action current_;
  Totals totals_;
  std::vector<Promise> promises_;
};

/// One sweep on a fresh machine.
Totals replay(Sequence& sequence, const ReplayOptions& options);

/// The same for a Sequence with these options; `steps` is n where the options leave it unknown.
Totals replay(const SequenceOptions& sequence_options, std::int64_t steps,
              ReplayOptions options = {});

}  // namespace anadrome::schedule
