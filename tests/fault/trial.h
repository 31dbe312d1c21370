// SPDX-License-Identifier: BSD-2-Clause
// One run of the laboratory: what is run, and what must be true of it whatever failed.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "faulty_file_system.h"
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
  bool keeps() const { return is_on("keep"); }
  bool is_on(const std::string& option) const;
  std::string text() const { return name + " " + layout + (buffered() ? "" : " direct"); }
};

/// Does the storage not say that this happened?
bool is_silent(Fault fault);

/// Must a sweep end with its gradient, though this befell it? Always, if nothing is lost; and once
/// it is under way if one transfer fails, or the disk takes no more: x_0 stays in memory until it
/// is on disk.
bool must_be_exact(Operation operation, Fault fault, bool lasting, bool under_way, bool keeps);

enum class Ending {
  kExact,       ///< the right gradient on every rank
  kCleanError,  ///< one clear error, the same on every rank
  kWrong        ///< anything else
};

struct Verdict {
  Ending ending = Ending::kWrong;
  std::string why;            ///< of kWrong and kCleanError
  bool is_under_way = false;  ///< some step was run
};

/// Runs of one setup in one directory, with what they must give.
class Bench {
 public:
  Bench(MPI_Comm comm, Setup setup, std::string directory);

  /// open, sweep, `before_close`, close. Not exact: the same status on all ranks, and one that a
  /// fault of the storage (or of memory) may give. Collective.
  Verdict run(const std::function<void()>& before_close = {});

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

}  // namespace anadrome::test
