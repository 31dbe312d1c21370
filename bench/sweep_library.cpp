// SPDX-License-Identifier: BSD-2-Clause
// The sweeps through the library's public interface.
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "guarded_main.h"
#include "sweep_modes.h"

namespace bench {
namespace {

struct Setting {
  const char *key, *value;
};
struct Mode {
  const char* name;
  bool zero_copy;
  std::array<Setting, 2> settings;
};
constexpr Setting kNothing = {"report", "off"};
constexpr std::array kModes = {
    Mode{"revolve", false, {{{"schedule", "revolve"}, kNothing}}},
    Mode{"async", false, {{{"schedule", "async"}, kNothing}}},
    Mode{"auto", false, {{{"schedule", "auto"}, kNothing}}},
    Mode{"store_all", false, {{{"schedule", "store_all"}, kNothing}}},
    Mode{"mixed", false, {{{"schedule", "mixed"}, kNothing}}},
    Mode{"async_zero_copy", true, {{{"schedule", "async"}, kNothing}}},
    Mode{"async_no_audit", false, {{{"schedule", "async"}, {"audit", "off"}}}},
    Mode{"revolve_no_audit", false, {{{"schedule", "revolve"}, {"audit", "off"}}}},
    Mode{"async_resume", false, {{{"schedule", "async"}, {"resume", "on"}}}},
    Mode{"async_commits", false, {{{"schedule", "async"}, {"resume", "on"}}}},
    Mode{"sync_disk", false, {{{"schedule", "async"}, {"transport", "mpio"}}}},
    Mode{"sync_interval", false, {{{"schedule", "async"}, {"transport", "mpio"}}}}};

class Library {
 public:
  /// `interval`: 0: planned.
  Library(const std::string& name, const Mode& mode, std::int64_t interval, Problem& problem,
          const Means& means)
      : problem_(problem), zero_copy_(mode.zero_copy) {
    check(anadrome_open(problem.model->grid.comm, &run_));
    set("directory", means.directory);
    set("name", name + "." + std::to_string(problem.steps));
    const std::size_t cells = problem.start.size();
    const bool resumes = mode.settings[1].key == std::string("resume");
    // The copy for a commit comes on top, so that all modes have as many slots.
    const std::size_t adjoint_bytes = resumes ? 2 * cells * sizeof(double) : 0;
    set("memory", std::to_string(means.memory + static_cast<std::int64_t>(adjoint_bytes)));
    if (means.bytes_per_second > 0)
      set("bandwidth_limit", std::to_string(means.bytes_per_second) + "B/s");
    for (const Setting& setting : mode.settings) set(setting.key, setting.value);
    if (mode.name == std::string("sync_interval")) interval = means.interval;
    if (interval > 0) set("interval", std::to_string(interval));
    if (resumes) {
      const bool commits = mode.name == std::string("async_commits");
      set("checkpoint_interval", commits ? std::to_string(means.seconds_between_commits) : "1e9");
      check(anadrome_add_field(run_, "lambda", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64,
                               problem.model->lambda, cells));
      check(anadrome_add_field(run_, "gradient", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64,
                               problem.model->gradient_kappa, cells));
    }
    if (zero_copy_) {
      check(
          anadrome_add_exchanged(run_, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, cells, &field_));
    } else if (!problem.state_bytes.empty()) {
      check(anadrome_add_varying(run_, "u", ANADROME_ROLE_STATE,
                                 heat_reached_most(&problem.model->grid), heat_reached_bytes,
                                 heat_reached_pack, heat_reached_unpack, problem.model));
    } else {
      check(anadrome_add_field(run_, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, problem.model->u,
                               cells));
    }
    if (problem.model->tape != nullptr) {
      const auto stages = static_cast<std::size_t>(problem.model->integrator);
      check(anadrome_add_field(run_, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64,
                               problem.model->tape, stages * cells));
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { anadrome_close(&run_); }

  Measured sweep() {
    Measured measured;
    begun_ = MPI_Wtime();
    check(anadrome_begin(run_, problem_.steps));
    std::copy(problem_.start.begin(), problem_.start.end(), next_state());
    play(measured);
    measured.seconds_total = MPI_Wtime() - begun_;
    return measured;
  }

 private:
  // From the library's begin to its DONE.
  void play(Measured& measured) {
    anadrome_action action{};
    for (;;) {
      check(anadrome_next(run_, &action));
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k)
          step(k, action.record != 0 && k + 1 == action.last);
      } else if (action.kind == ANADROME_TURN) {
        measured.seconds_forward = MPI_Wtime() - begun_;
        heat_turn(problem_.model, state());
      } else {
        adjoint(action.first);
      }
    }
    measured.stats.size = sizeof measured.stats;
    check(anadrome_statistics(run_, &measured.stats));
  }

  void step(std::int64_t k, bool record) {
    double* tape = record ? problem_.model->tape : nullptr;
    heat_step(problem_.ready(k), k, state(), next_state(), tape);
  }
  void adjoint(std::int64_t k) {
    heat_adjoint_step(problem_.ready(k), k, state(), problem_.model->tape);
  }
  void set(const char* key, const std::string& value) {
    check(anadrome_set(run_, key, value.c_str()));
  }
  const double* state() const {
    return zero_copy_ ? static_cast<const double*>(anadrome_now(run_, field_)) : problem_.model->u;
  }
  double* next_state() {
    return zero_copy_ ? static_cast<double*>(anadrome_then(run_, field_)) : problem_.model->u;
  }

  Problem& problem_;
  bool zero_copy_ = false;
  double begun_ = 0;
  anadrome_run* run_ = nullptr;
  int field_ = 0;
};

}  // namespace

Sweep library_sweep(const std::string& mode, Problem& problem, const Means& means) {
  const auto end = mode.find_first_of("=+");
  const std::string plain = mode.substr(0, end);
  const auto found =
      std::find_if(kModes.begin(), kModes.end(), [&](const Mode& m) { return plain == m.name; });
  if (found == kModes.end()) throw std::runtime_error("unknown mode " + mode);
  std::int64_t interval = 0;
  if (end != std::string::npos && mode[end] == '=') interval = std::stoll(mode.substr(end + 1));
  std::string name = mode;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '=' || c == '+'; }, '-');
  const auto make = [=, &problem] {
    return std::make_shared<Library>(name, *found, interval, problem, means);
  };
  if (means.fresh) return [make] { return make()->sweep(); };
  const auto library = make();
  return [library] { return library->sweep(); };
}

}  // namespace bench
