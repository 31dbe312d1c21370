// SPDX-License-Identifier: BSD-2-Clause
// bench_sweep: the adjoint of a heat equation in several ways, in turns: A, B, C, A, B, C, ... so
// that a machine that becomes slower or faster meanwhile does so for all. Round 0 warms memory and
// files; it is printed too, for whoever asks what a first sweep costs. Every sweep must give the
// same gradient, bit for bit, as the others of as many steps. CSV on standard output, a line per
// sweep.
#include <charconv>
#include <cinttypes>
#include <list>
#include <map>

#include "flags.h"
#include "guarded_main.h"
#include "sweep_modes.h"

namespace {

using namespace bench;

struct Setup {
  std::int64_t cells_x = 0, cells_y = 0, rounds = 3;
  std::int64_t first_round = 0;  ///< round 0 makes everything warm, and is not counted
  /// Tapes and uneven work are for the modes of the library only.
  bool rk4 = false, tape = false, adaptive = false;
  std::vector<std::string> modes;
  Means means;
};

struct Contender {
  std::string mode;
  Problem problem;
  Sweep sweep;
};

Sweep make_sweep(const std::string& mode, Problem& problem, const Means& means) {
  if (mode == "ideal") return ideal_sweep(problem);
  if (mode == "by_hand") return hand_written_sweep(problem, means);
  return library_sweep(mode, problem, means);
}

Setup read_flags(int argc, char** argv, Problem& problem) {
  Flags flags(argc, argv);
  Setup setup;
  setup.cells_x = flags.count("cells-x", 512);
  setup.cells_y = flags.count("cells-y", 256);
  problem.work = flags.count("work", 1);
  problem.last_work = flags.count("last-work", problem.work);
  setup.rk4 = flags.text("integrator", "euler") == std::string("rk4");
  setup.tape = flags.count("tape", 0) != 0;
  setup.adaptive = flags.count("adaptive", 0) != 0;  // heat spreads from a spot
  setup.rounds = flags.count("rounds", 3);
  setup.first_round = flags.count("cold", 0) != 0 ? 1 : 0;
  setup.modes = flags.list("modes", "ideal,async");  // or async@500: with steps of its own
  setup.means.directory = flags.text("directory", ".");
  setup.means.memory = flags.count("memory", 64 << 20);
  setup.means.interval = flags.count("interval", setup.means.interval);
  setup.means.bytes_per_second = flags.count("bandwidth-limit", 0);
  setup.means.seconds_between_commits =
      1e-3 * static_cast<double>(flags.count("commit-milliseconds", 1000));
  setup.means.fresh = flags.count("fresh", 0) != 0;
  problem.steps = flags.count("steps", 200);
  flags.end();
  return setup;
}

// The slowest rank is what everybody waits for.
double longest(const heat_grid& grid, double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, grid.comm);
  return seconds;
}

std::uint64_t gradient_hash(const heat_model& model) {
  return heat_hash(&model.grid, model.gradient_kappa, model.lambda);
}

void print_heading() {
  std::puts(
      "mode,round,ranks,state_bytes,steps,seconds,forward,adjoint,step,adjoint_step,write_state,"
      "read_state,stalled_write,stalled_read,copying,agreeing,agreements,writing,reading,checksums,"
      "recompute_factor,bytes_written,bytes_read,anchors,interval,slots,checkpoint_slots,"
      "prefetch_depth,predicted,predicted_at_step,adjoint_guessed,seconds_total,peak_bytes,"
      "gradient_hash");
}

void print_row(const std::string& mode, std::int64_t round, const Problem& problem, double total,
               double forward, const anadrome_stats& s, std::uint64_t hash) {
  std::printf("%s,%" PRId64 ",%d,%zu,%" PRId64 ",%.6f,%.6f,%.6f", mode.c_str(), round,
              problem.model->grid.ranks, problem.start.size() * sizeof(double), problem.steps,
              total, forward, total - forward);
  for (const double seconds :
       {s.seconds_step, s.seconds_adjoint_step, s.seconds_write_state, s.seconds_read_state,
        s.seconds_stalled_write, s.seconds_stalled_read, s.seconds_copying, s.seconds_agreeing})
    std::printf(",%.9f", seconds);
  std::printf(",%" PRId64 ",%.6f,%.6f,%.6f,%.4f", s.agreements, s.seconds_writing,
              s.seconds_reading, s.seconds_checksums,
              static_cast<double>(s.forward_steps_taken) / static_cast<double>(problem.steps));
  for (const std::int64_t number : {s.bytes_written, s.bytes_read, s.anchors, s.interval, s.slots,
                                    s.checkpoint_slots, s.prefetch_depth})
    std::printf(",%" PRId64, number);
  std::printf(",%.6f,%" PRId64 ",%d,%.6f,%" PRId64 ",%016" PRIx64 "\n", s.seconds_predicted,
              s.predicted_at_step, s.adjoint_guessed, s.seconds_total, s.peak_library_bytes, hash);
  std::fflush(stdout);
}

// `text` is mode or mode@steps. The sweep refers to the problem: a contender stays where it is.
void make_contender(const std::string& text, const Problem& problem, const Setup& setup,
                    std::list<Contender>& all) {
  const auto at = text.find('@');
  Contender& contender = all.emplace_back(Contender{text.substr(0, at), problem, {}});
  if (at != std::string::npos) {
    const char *digits = text.data() + at + 1, *end = text.data() + text.size();
    if (std::from_chars(digits, end, contender.problem.steps).ptr != end)
      throw std::runtime_error("'" + text + "' is not mode@steps");
  }
  if (setup.adaptive) contender.problem.measure_states();
  contender.sweep = make_sweep(contender.mode, contender.problem, setup.means);
}

void run(const Setup& setup, const Problem& problem) {
  const heat_grid& grid = problem.model->grid;
  std::list<Contender> contenders;
  for (const std::string& mode : setup.modes) make_contender(mode, problem, setup, contenders);
  if (grid.rank == 0) print_heading();
  std::map<std::int64_t, std::uint64_t> expected;  // by steps
  for (std::int64_t round = setup.first_round; round <= setup.rounds; ++round) {
    for (const Contender& contender : contenders) {
      MPI_Barrier(grid.comm);
      const Measured measured = contender.sweep();
      anadrome_stats all{};
      outcome_reduce_statistics(grid.comm, &measured.stats, &all);
      const double total = longest(grid, measured.seconds_total);
      const double forward = longest(grid, measured.seconds_forward);
      const std::uint64_t hash = gradient_hash(*problem.model);
      if (grid.rank == 0)
        print_row(contender.mode, round, contender.problem, total, forward, all, hash);
      if (expected.emplace(contender.problem.steps, hash).first->second != hash)
        throw std::runtime_error(contender.mode + " gives another gradient");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return guarded_main(argc, argv, [&] {
    Problem problem;
    const Setup setup = read_flags(argc, argv, problem);
    problem.model = heat_model_create(MPI_COMM_WORLD, setup.cells_x, setup.cells_y, problem.work,
                                      setup.rk4 ? HEAT_RK4 : HEAT_EULER);
    if (problem.model == nullptr) throw std::runtime_error("no memory for the model");
    if (setup.adaptive) heat_model_use_hot_spot(problem.model);
    if (setup.tape && heat_model_add_tape(problem.model) != 0)
      throw std::runtime_error("no memory for the tape");
    problem.start.resize(heat_grid_cells(&problem.model->grid));
    heat_fill_initial_state(problem.model, problem.start.data());
    run(setup, problem);
    heat_model_free(problem.model);
  });
}
