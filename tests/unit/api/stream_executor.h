// SPDX-License-Identifier: BSD-2-Clause
// Carries out the actions of a stream on numbers, as a framework would on states: everything that
// is restored must be what was kept, and nothing may exceed its limits.
#pragma once

#include <anadrome/schedule.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct Limits {
  std::vector<std::int64_t> steps;  ///< of each branch; where the model ends
  std::int64_t units = 0;           ///< memory
  std::int64_t disk_slots = std::numeric_limits<std::int64_t>::max();
  std::int64_t tape_units = 0;
  bool record = false, stiff = false;
  bool transfers = false;           ///< WRITE and READ are actions of their own
  bool anchors_stay = false;        ///< slots on disk are not used again
  std::vector<std::int64_t> bytes;  ///< of states; empty: 1 each
};

class StreamExecutor {
 public:
  explicit StreamExecutor(Limits limits);

  /// Throws std::logic_error with the action and what is wrong with it.
  void play(const anadrome_schedule_action& action);

  bool done() const { return done_; }
  std::int64_t advances() const { return advances_; }
  std::int64_t most_units() const { return most_units_; }
  std::int64_t most_on_disk() const { return most_on_disk_; }
  std::int64_t transfers() const { return transfers_; }
  /// The most often that one state was restored from disk.
  std::int64_t most_restores() const { return most_restores_; }
  /// The number that the adjoint steps made; the same for every schedule.
  std::uint64_t gradient() const { return gradient_; }

 private:
  /// A state or a tape with the number that stands for it.
  struct Value {
    std::int64_t branch = -1, step = -1;
    std::uint64_t number = 0;
    bool exists() const { return step >= 0; }
  };
  struct Held {
    Value value;
    bool is_tape = false;
    std::int64_t begin = 0, units = 1;
    bool in_memory = true, on_disk = false;
    std::int64_t restores = 0;
  };
  using Place = std::pair<std::int32_t, std::int64_t>;

  void advance(const anadrome_schedule_action& action);
  void turn(const anadrome_schedule_action& action);
  void adjoint(const anadrome_schedule_action& action);
  void keep(const anadrome_schedule_action& action);
  void restore(const anadrome_schedule_action& action);
  void drop(const anadrome_schedule_action& action);
  void transfer(const anadrome_schedule_action& action);
  Held& held(const anadrome_schedule_action& action);
  void note_use();
  void require(bool holds, const std::string& rule) const;
  std::int64_t units_of(const Held& held) const;

  Limits limits_;
  Value live_, tape_;
  std::map<Place, Held> kept_;
  std::vector<std::int64_t> run_before_, to_adjoin_;
  std::set<std::int64_t> started_, ended_, turned_;
  bool done_ = false;
  std::int64_t advances_ = 0, most_units_ = 0, most_on_disk_ = 0, transfers_ = 0,
               most_restores_ = 0;
  std::uint64_t gradient_ = 0;
  std::string doing_;
};
