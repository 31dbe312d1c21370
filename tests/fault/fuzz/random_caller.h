// SPDX-License-Identifier: BSD-2-Clause
// A caller of one run that follows some actions and ignores others, and knows when the states must
// be right all the same.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace anadrome::test {

/// The bytes of state x_k, field by field: a function of the step, so that any of them can be
/// checked at any time.
class RandomCaller {
 public:
  enum class Kind { kArray, kPacked, kExchanged };
  struct Registered {
    RandomCaller* owner = nullptr;
    Kind kind = Kind::kArray;
    anadrome_role role = ANADROME_ROLE_STATE;
    std::size_t bytes = 0;
    int number = -1;  ///< of an exchanged field
    std::vector<unsigned char> values;
    std::uint64_t salt = 0;
    bool in_sweep = false;  ///< registered before begin; later ones are of the next sweep
  };

  ~RandomCaller() { anadrome_close(&run); }

  anadrome_run* run = nullptr;
  std::deque<Registered> fields;  ///< the library holds pointers into it
  std::string wrong;              ///< the first state that was not what it must be
  std::int64_t states_checked = 0;
  bool packing_fails = false;

  bool has_tape() const;
  /// begin said OK.
  void begun(std::int64_t steps);
  /// x_0 goes where it belongs.
  void write_start();
  /// Do what the action says. False if it cannot be done (too many steps).
  bool follow(const anadrome_action& action);
  /// Within an advance of unknown length: write x_n and say so.
  anadrome_status finish(const anadrome_action& action, std::int64_t steps);
  /// From here on the states may be anything.
  void go_astray() { honest_ = false; }
  bool honest() const { return honest_; }
  std::int64_t steps() const { return steps_; }

 private:
  static void fill(const Registered& field, std::int64_t step, unsigned char* to);
  void write(std::int64_t step, anadrome_role role);
  void check(std::int64_t step, anadrome_role role);
  void expect(bool condition, const anadrome_action& action);

  bool honest_ = false;
  std::int64_t steps_ = 0;       ///< n, -1: unknown
  std::int64_t to_adjoin_ = -1;  ///< the step whose adjoint is next; -1 before TURN
};

}  // namespace anadrome::test
