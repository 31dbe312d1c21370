// SPDX-License-Identifier: BSD-2-Clause
// bench_advice: one sweep of steps that take a given time without work, so that what else the
// machine does matters little. Options come from ANADROME_OPTIONS. The last line on standard output
// has the seconds from begin to DONE.
#include <anadrome/anadrome.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "flags.h"
#include "guarded_main.h"

namespace {

using namespace bench;

struct Setup {
  std::int64_t state_bytes = 0, steps = 0, forward = 0, adjoint = 0;  // microseconds
  std::int64_t kill_at = 0;  ///< step of the reverse sweep; 0: the process lives
};

Setup read_flags(int argc, char** argv) {
  Flags flags(argc, argv);
  Setup setup;
  setup.state_bytes = flags.count("bytes", 1 << 20);
  setup.steps = flags.count("steps", 120);
  setup.forward = flags.count("forward-us", 6000);
  setup.adjoint = flags.count("adjoint-us", 12000);
  setup.kill_at = flags.count("kill-at", 0);
  flags.end();
  return setup;
}

void pass(std::int64_t microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

void sweep(const Setup& setup) {
  std::vector<unsigned char> state(static_cast<std::size_t>(setup.state_bytes), 1);
  double gradient = 0;
  anadrome_run* run = nullptr;
  anadrome_action action;
  check(anadrome_open(MPI_COMM_WORLD, &run));
  check(
      anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_BYTE, state.data(), state.size()));
  check(anadrome_add_field(run, "g", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, &gradient, 1));
  check(anadrome_begin(run, setup.steps));
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  check(anadrome_resumed(run, &phase, &step));
  for (;;) {
    check(anadrome_next(run, &action));
    if (action.kind == ANADROME_DONE) break;
    if (action.kind == ANADROME_ADVANCE) {
      for (std::int64_t k = action.first; k < action.last; ++k) {
        pass(setup.forward);
        ++state[static_cast<std::size_t>(k % setup.state_bytes)];
      }
    } else if (action.kind == ANADROME_ADJOINT) {
      if (setup.kill_at > 0 && action.first == setup.kill_at) std::raise(SIGKILL);
      pass(setup.adjoint);
      gradient += state[0];
    }
  }
  anadrome_stats stats{};
  stats.size = sizeof stats;
  check(anadrome_statistics(run, &stats));
  std::printf("seconds %.6f\n", stats.seconds_total);
  check(anadrome_close(&run));
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main(argc, argv, [&] { sweep(read_flags(argc, argv)); });
}
