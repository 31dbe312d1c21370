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
    Mode{"uneven", false, {{{"schedule", "uneven"}, kNothing}}},
    Mode{"disk_revolve", false, {{{"schedule", "disk_revolve"}, kNothing}}},
    Mode{"hrevolve", false, {{{"schedule", "hrevolve"}, kNothing}}},
    Mode{"multistage", false, {{{"schedule", "multistage"}, kNothing}}},
    Mode{"overlapped", false, {{{"schedule", "overlapped"}, kNothing}}},
    Mode{"double", false, {{{"schedule", "double"}, kNothing}}},
    Mode{"async_zero_copy", true, {{{"schedule", "async"}, kNothing}}},
    Mode{"async_no_checksum", false, {{{"schedule", "async"}, {"checksum", "off"}}}},
    Mode{"async_resume", false, {{{"schedule", "async"}, {"resume", "on"}}}},
    Mode{"async_commits", false, {{{"schedule", "async"}, {"resume", "on"}}}},
    Mode{"sync_disk", false, {{{"schedule", "async"}, {"transport", "mpio"}}}},
    Mode{"sync_interval", false, {{{"schedule", "async"}, {"transport", "mpio"}}}}};

class Library {
 public:
  Library(const Mode& mode, Problem& problem, const Means& means)
      : problem_(problem), zero_copy_(mode.zero_copy) {
    check(anadrome_open(problem.model->grid.comm, &run_));
    set("directory", means.directory);
    set("name", std::string(mode.name) + "." + std::to_string(problem.steps));
    const std::size_t cells = problem.start.size();
    const bool resumes = mode.settings[1].key == std::string("resume");
    // What a commit copies comes on top, so that all modes have as many slots.
    const std::size_t adjoint_bytes = resumes ? 2 * cells * sizeof(double) : 0;
    set("memory", std::to_string(means.memory + static_cast<std::int64_t>(adjoint_bytes)));
    if (means.bytes_per_second > 0)
      set("bandwidth_limit", std::to_string(means.bytes_per_second) + "B/s");
    for (const Setting& setting : mode.settings) set(setting.key, setting.value);
    if (mode.name == std::string("sync_interval")) set("interval", std::to_string(means.interval));
    if (resumes) {
      const bool commits = mode.name == std::string("async_commits");
      set("checkpoint_interval", commits ? std::to_string(means.seconds_between_commits) : "1e9");
      check(anadrome_add_field(run_, "lambda", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64,
                               problem.model->lambda, cells));
      check(anadrome_add_field(run_, "gradient", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64,
                               problem.model->gradient_kappa, cells));
    }
    check(zero_copy_ ? anadrome_add_exchanged(run_, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64,
                                              cells, &field_)
                     : anadrome_add_field(run_, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64,
                                          problem.model->u, cells));
    if (problem.model->tape != nullptr) {
      const auto stages = static_cast<std::size_t>(heat_stages(problem.model->integrator));
      check(anadrome_add_field(run_, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64,
                               problem.model->tape, stages * cells));
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { anadrome_close(&run_); }

  Measured sweep() {
    Measured measured;
    const double start = MPI_Wtime();
    check(anadrome_begin(run_, problem_.steps));
    std::copy(problem_.start.begin(), problem_.start.end(), next_state());
    anadrome_action action{};
    for (;;) {
      check(anadrome_next(run_, &action));
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < action.last; ++k)
          step(k, action.record != 0 && k + 1 == action.last);
      } else if (action.kind == ANADROME_TURN) {
        measured.seconds_forward = MPI_Wtime() - start;
        heat_turn(problem_.model, state());
      } else {
        adjoint(action.first);
      }
    }
    measured.seconds_total = MPI_Wtime() - start;
    measured.stats.size = sizeof measured.stats;
    check(anadrome_statistics(run_, &measured.stats));
    return measured;
  }

 private:
  void step(std::int64_t k, bool record) {
    problem_.set_work(k);
    if (record) {
      heat_record_step(problem_.model, k, state(), next_state(), problem_.model->tape);
    } else {
      heat_step(problem_.model, k, state(), next_state());
    }
  }
  void adjoint(std::int64_t k) {
    problem_.set_work(k);
    if (problem_.model->tape != nullptr) {
      heat_adjoint_of_tape(problem_.model, problem_.model->tape);
    } else {
      heat_adjoint_step(problem_.model, k, state());
    }
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
  anadrome_run* run_ = nullptr;
  int field_ = 0;
};

}  // namespace

Sweep library_sweep(const std::string& mode, Problem& problem, const Means& means) {
  const auto found =
      std::find_if(kModes.begin(), kModes.end(), [&](const Mode& m) { return mode == m.name; });
  if (found == kModes.end()) throw std::runtime_error("unknown mode " + mode);
  const auto library = std::make_shared<Library>(*found, problem, means);
  return [library] { return library->sweep(); };
}

}  // namespace bench
