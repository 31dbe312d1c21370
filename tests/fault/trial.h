// SPDX-License-Identifier: BSD-2-Clause
// One run of the laboratory: what is run, and what must be true of it whatever failed.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modular_model.h"
#include "process_resources.h"

namespace anadrome::test {

/// A kind of run.
struct Setup {
  std::string name;  ///< of schedule and model
  std::string schedule = "async";
  std::string interval = "";  ///< empty: as the schedule has it
  std::string layout = "shared";
  std::string transport = "buffered";
  std::int64_t steps = 40;
  bool unknown = false;
  ModelShape shape = {};
  double memory = 2;                                           ///< in units of the least
  std::vector<std::pair<std::string, std::string>> more = {};  ///< options
  bool two_directories = false;

  bool buffered() const { return transport == "buffered"; }
  bool keeps() const;  ///< files, with keep=on
  std::string text() const { return name + " " + layout + (buffered() ? "" : " direct"); }
};

/// Each of these in each layout.
std::vector<Setup> in_layouts(const std::vector<const char*>& layouts,
                              const std::vector<Setup>& kinds);

/// Everything `fault_sweep` and its like run, from cheap to dear.
std::vector<Setup> all_setups(int ranks);

/// Those whose files are kept.
std::vector<Setup> kept_setups();

enum class Ending {
  kExact,       ///< the right gradient on every rank
  kCleanError,  ///< one clear error, the same on every rank
  kWrong        ///< anything else
};

struct Verdict {
  Ending ending = Ending::kWrong;
  std::string why;  ///< of kWrong and kCleanError
  anadrome_stats statistics{};
};

/// Runs of one setup in one directory, with what they must give.
class Bench {
 public:
  Bench(MPI_Comm comm, Setup setup, std::string directory);

  /// open, sweep, close. Not exact: the same status on all ranks, and one that a fault of the
  /// storage (or of memory) may give. Collective.
  Verdict run();
  /// As run; `before_close` is called between the sweep and close.
  template <class Body>
  Verdict run(Body&& before_close);

  const Setup& setup() const { return setup_; }
  ModularModel& model() { return model_; }
  std::string run_directory() const { return directory_ + "/anadrome"; }
  std::string fast() const { return directory_ + "/fast"; }
  /// Removes the files of a run with keep=on. Returns "" if they were as they must be, else the
  /// fault. Collective.
  std::string fault_of_kept_files();
  /// Is nothing left, neither files nor descriptors nor threads? Otherwise says what.
  std::string left_behind() const;
  /// A handle with fields and options; NULL, and why in `refused`, if one was refused.
  anadrome_run* open(SweepResult& refused);
  /// Is this the gradient with every state kept?
  bool is_right(const SweepResult& result) const {
    return result.done && result.kept_its_word && result.gradient == gradient_;
  }
  /// The verdict on the sweep and on close, on all ranks.
  Verdict judge(const SweepResult& result, anadrome_status closed,
                const std::string& close_message);

 private:
  std::int64_t least_memory();

  MPI_Comm comm_;
  Setup setup_;
  std::string directory_;
  ModularModel model_;
  std::uint64_t gradient_ = 0;
  std::int64_t memory_ = 0;
  Resources before_;
};

template <class Body>
Verdict Bench::run(Body&& before_close) {
  SweepResult result;
  anadrome_run* run = open(result);
  anadrome_stats statistics{};
  if (run != nullptr) {
    result = sweep(run, model_, setup_.steps, setup_.unknown);
    statistics.size = sizeof statistics;
    anadrome_statistics(run, &statistics);
  }
  before_close();
  const anadrome_status closed = anadrome_close(&run);
  const std::string message = closed != ANADROME_OK ? anadrome_last_error() : "";
  Verdict verdict = judge(result, closed, message);
  verdict.statistics = statistics;
  return verdict;
}

inline Verdict Bench::run() {
  return run([] {});
}

}  // namespace anadrome::test
