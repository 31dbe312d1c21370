// SPDX-License-Identifier: BSD-2-Clause
// One job of a user's, drawn from a seed: a run and its options, what befalls it, and the runs that
// follow in its directory until one ends. What must be true: the gradient with every state kept, or
// one clear error on every rank; the last run, which nothing befalls, gives the gradient; all ranks
// get the same actions, as many steps as planned; memory= and disk= are kept to; nothing is left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faulty_file_system.h"
#include "trial.h"
#include "world.h"

namespace anadrome::simulation {

/// What befalls a run.
struct Mishap {
  enum Kind { kNone, kKill, kPowerLoss, kFault, kStop, kCorruption, kFail } kind = kNone;
  enum Deed { kSaysSo, kPack, kUnpack, kCloses, kBegins } deed = kSaysSo;  ///< of a rank that fails
  std::int64_t at = 0;                                                     ///< operation, or action
  test::Operation operation = test::Operation::kOpen;
  test::Fault fault = test::Fault::kNone;
  bool lasting = false;
  std::int64_t killed_at = -1;  ///< turn; -1: it is not killed
  std::string text() const;
  /// May a run to which it happens end in an error?
  bool excuses() const { return kind == kFault || kind == kCorruption || kind == kFail; }
};

struct Job {
  std::uint64_t seed = 0;
  int ranks = 1, ranks_per_node = 1;
  Costs costs;
  test::Setup setup;
  bool resumes = false, compresses = false;
  std::int64_t disk = -1;    ///< bytes; -1: as many as there are
  std::string passes;        ///< after the sweep: F forward, R in reverse, W a rewind
  std::vector<Mishap> runs;  ///< the last one is kNone

  static Job drawn(std::uint64_t seed);
  std::string text() const;
};

/// What a job came to. `fault`: empty if all is as it must be.
struct Result {
  std::string fault;
  std::uint64_t trace = 0;  ///< of all its runs: the same for the same seed
  std::int64_t turns = 0;
  int resumed = 0, errors = 0, killed = 0, hit = 0;
};

/// Each run in a process of its own, in the empty directory `directory`.
Result carry_out(const Job& job, const std::string& directory);

}  // namespace anadrome::simulation
