// SPDX-License-Identifier: BSD-2-Clause
// bench_throughput: how fast states go to disk and come back when the steps cost nothing and every
// state is an anchor. Several variants in turns; --between COMMAND is run by rank 0 before each
// round with the round's number appended, for a measurement of the disk itself in the same turns;
// plain copies by all ranks at once are measured there, too. Round 0 makes files and memory. CSV on
// standard output, a line per sweep.
#include <unistd.h>

#include <cinttypes>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "flags.h"
#include "guarded_main.h"
#include "outcome.h"
#include "throughput_by_hand.h"

namespace {

using namespace bench;

struct Setup {
  std::int64_t state_bytes = 0, steps = 0, rounds = 3, memory = 0;
  std::string directory, between;
  std::vector<std::string> variants;
};

Setup read_flags(int argc, char** argv) {
  Flags flags(argc, argv);
  Setup setup;
  setup.state_bytes = flags.count("bytes", 1 << 20);
  setup.steps = flags.count("steps", 100);
  setup.rounds = flags.count("rounds", 3);
  setup.memory = flags.count("memory", 64 << 20);
  setup.directory = flags.text("directory", ".");
  setup.between = flags.text("between", "");
  setup.variants = flags.list("variants", "checksum");  // or zero_copy, by_hand
  flags.end();
  return setup;
}

class Run {
 public:
  Run(const Setup& setup, const std::string& variant)
      : bytes_(static_cast<std::size_t>(setup.state_bytes)),
        steps_(setup.steps),
        zero_copy_(variant == "zero_copy") {
    check(anadrome_open(MPI_COMM_WORLD, &run_));
    set("directory", setup.directory);
    set("name", variant);
    set("memory", std::to_string(setup.memory));
    set("schedule", "async");
    set("interval", "1");
    if (zero_copy_) {
      check(anadrome_add_exchanged(run_, "u", ANADROME_ROLE_STATE, ANADROME_BYTE, bytes_, &field_));
    } else {
      state_.assign(bytes_, std::byte{1});
      check(
          anadrome_add_field(run_, "u", ANADROME_ROLE_STATE, ANADROME_BYTE, state_.data(), bytes_));
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { anadrome_close(&run_); }

  anadrome_stats sweep() {
    check(anadrome_begin(run_, steps_));
    anadrome_action action{};
    for (;;) {
      check(anadrome_next(run_, &action));
      if (action.kind == ANADROME_DONE) break;
      if (action.kind == ANADROME_ADVANCE) mark(action.last);
    }
    anadrome_stats stats{};
    stats.size = sizeof stats;
    check(anadrome_statistics(run_, &stats));
    return stats;
  }

 private:
  void set(const char* key, const std::string& value) {
    check(anadrome_set(run_, key, value.c_str()));
  }
  // The whole step: one byte, so that no two states are the same.
  void mark(std::int64_t step) {
    auto* state = zero_copy_ ? static_cast<std::byte*>(anadrome_then(run_, field_)) : state_.data();
    state[0] = static_cast<std::byte>(step);
  }

  std::size_t bytes_;
  std::int64_t steps_;
  bool zero_copy_;
  std::vector<std::byte> state_;
  anadrome_run* run_ = nullptr;
  int field_ = 0;
};

using Sweep = std::function<anadrome_stats()>;

Sweep sweep_of(const Setup& setup, const std::string& variant) {
  if (variant != "by_hand")
    return [run = std::make_shared<Run>(setup, variant)] { return run->sweep(); };
  const auto store =
      std::make_shared<StoreByHand>(setup.directory, setup.state_bytes, setup.steps, setup.memory);
  const auto state = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(setup.state_bytes), std::byte{1});
  return [store, state] { return store->sweep(state->data()); };
}

// The other ranks sleep meanwhile: a rank that polls for a message takes a core.
void run_between(const std::string& command, std::int64_t round) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (command.empty()) return;
  if (rank == 0 && std::system((command + " " + std::to_string(round)).c_str()) != 0)
    throw std::runtime_error("'" + command + "' failed");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) ::usleep(2000);
  }
}

// Of all ranks together.
double copies_of_all(std::int64_t bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  double rate = copy_rate(bytes);
  MPI_Allreduce(MPI_IN_PLACE, &rate, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return rate;
}

void print_row(const std::string& variant, std::int64_t round, const anadrome_stats& s,
               double copies) {
  std::printf("%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
              variant.c_str(), round, s.ranks, s.state_bytes, s.steps, s.states_per_write,
              s.bytes_written, s.bytes_read);
  for (const double seconds :
       {s.seconds_total, s.seconds_forward, s.seconds_adjoint, s.seconds_writing, s.seconds_reading,
        s.seconds_checksums, s.seconds_stalled_write, s.seconds_stalled_read, s.seconds_copying})
    std::printf(",%.6f", seconds);
  std::printf(",%d,%.0f\n", s.direct_io, copies);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main(argc, argv, [&] {
    const Setup setup = read_flags(argc, argv);
    std::vector<Sweep> sweeps;
    for (const std::string& variant : setup.variants) sweeps.push_back(sweep_of(setup, variant));
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
      std::puts(
          "variant,round,ranks,state_bytes,steps,states_per_write,bytes_written,bytes_read,seconds,"
          "forward,adjoint,writing,reading,checksums,stalled_write,stalled_read,copying,direct_io,"
          "copies");
    for (std::int64_t round = 0; round <= setup.rounds; ++round) {
      run_between(setup.between, round);
      const double copies = copies_of_all(setup.state_bytes);
      for (std::size_t i = 0; i < sweeps.size(); ++i) {
        const anadrome_stats stats = sweeps[i]();
        anadrome_stats all{};
        outcome_reduce_statistics(MPI_COMM_WORLD, &stats, &all);
        if (rank == 0) print_row(setup.variants[i], round, all, copies);
      }
    }
  });
}
