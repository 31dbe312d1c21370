// SPDX-License-Identifier: BSD-2-Clause
// What intervals of each length took, and which length comes next. How much a transfer slows the
// steps beside it nobody knows beforehand, so lengths are compared by their seconds: powers of two,
// a piece of the sweep at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "schedule/anchored/interval.h"

namespace anadrome::schedule {

class IntervalTimes {
 public:
  /// Intervals of 2^level steps.
  static constexpr int kLevels = 40;
  static int level_of(std::int64_t interval);  ///< the nearest
  static std::int64_t interval(int level) { return std::int64_t{1} << level; }

  /// Intervals of so many steps together, an anchor after each, took so many seconds without the
  /// copies, of which `waited` for transfers.
  void add(double steps, double anchors, double seconds, double waited);

  /// Pieces of the sweep that were measured so far. A decision is worth another thought when there
  /// is one more.
  std::int64_t pieces() const { return pieces_; }
  bool knows(int level) const { return level >= 0 && at(level).count > 0; }
  /// That of the newest piece; -1: none is whole.
  int newest() const { return newest_; }
  /// No step beside a transfer says what one without takes; this one took least.
  void fastest_step_is(double seconds) { fastest_ = seconds; }
  /// Seconds of a step without transfers; 0: not known.
  double step() const;
  /// The same for what cannot be taken back: while one level is known, what its steps took, as the
  /// fastest of them may be chance.
  double sure_step() const;
  /// At the least: by its standard error less, where step() is by that more.
  double step_at_least() const;
  /// `costs` as intervals of this level were measured: its transfers take what they add to the
  /// steps.
  StepCosts costs(int level, StepCosts costs) const;

  /// What a step costs with intervals of a level: of a function that lives as long as the call. It
  /// allocates nothing, since a rank without memory has to decide as the others do.
  class Price {
   public:
    template <typename Function>
    Price(const Function& function)  // NOLINT(google-explicit-constructor)
        : function_(&function), call_([](const void* of, int level) {
            return static_cast<double>((*static_cast<const Function*>(of))(level));
          }) {}
    double operator()(int level) const { return call_(function_, level); }

   private:
    const void* function_;
    double (*call_)(const void*, int level);
  };
  /// The cheapest of those that are known, from `least` on; `otherwise`: none is.
  int best(int least, const Price& price, int otherwise) const;
  struct Levels {
    int least = 0, most = 0;
  };
  /// After a piece at level `now`: the best one, and in between a piece at each of its neighbours
  /// that is among these: the longer one, and the shorter one if it would be cheaper if its
  /// transfers took nothing (`at_least`). What is known of a longer one counts in any case.
  int next(const Levels& among, const Price& price, const Price& at_least, int now) const;

 private:
  struct Piece {
    double steps = 0, anchors = 0, seconds = 0, computing = 0;
    std::int64_t number = 0;
  };
  static constexpr std::size_t kNewest = 16;
  struct Level {
    std::array<Piece, kNewest> newest;
    std::size_t count = 0;  ///< of them
    std::int64_t last = 0;  ///< number of the newest piece
  };
  static std::span<const Piece> pieces_of(const Level& level);
  bool counts(const Level& level, const Piece& piece) const;
  const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  double middle(int level, double Piece::*what) const;
  double step(double errors) const;  ///< by so many standard errors more

  std::array<Level, kLevels> levels_ = {};
  int level_ = -1;   ///< of the newest intervals
  int newest_ = -1;  ///< of the newest piece
  Piece open_;       ///< of that level
  double steps_ = 0, seconds_ = 0;
  double fastest_ = 0;
  std::int64_t pieces_ = 0;
};

}  // namespace anadrome::schedule
