// SPDX-License-Identifier: BSD-2-Clause
// power_loss [--full] [--only TEXT] [--count TRIALS] [--seed NUMBER] [--part I/N]
//
// The power fails before every operation of a run. What was not synced is kept, lost or torn by
// chance; on the disk that is left the same program is started again, and must end with the same
// gradient, bit by bit.
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "power_loss_file_system.h"
#include "tally.h"
#include "trial.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

std::vector<Setup> setups() {
  const ModelShape page = {.words = 512, .adjoint_fields = true};
  const ModelShape exchanged = {
      .words = 100, .fields = 2, .registered = Registered::kExchanged, .adjoint_fields = true};
  const ModelShape small = {.words = 2, .registered = Registered::kPacked, .adjoint_fields = true};
  std::vector<Setup> all = in_layouts(
      {"shared", "rank"},
      {
          {.name = "async 1", .interval = "1", .shape = page, .memory = 6},
          {.name = "async 3", .interval = "3", .steps = 60, .shape = page, .memory = 8},
          {.name = "async 2, n unknown",
           .interval = "2",
           .unknown = true,
           .shape = page,
           .memory = 6},
          {.name = "async 2, exchanged", .interval = "2", .shape = exchanged, .memory = 10},
          {.name = "async 1, many to a block", .interval = "1", .steps = 2100, .shape = small},
      });
  for (Setup& setup : all) setup.more = {{"resume", "on"}, {"checkpoint_interval", "0"}};
  return all;
}

class PowerLoss {
 public:
  explicit PowerLoss(const LaboratoryOptions& options)
      : options_(options),
        random_(options.seed + 1000003U * static_cast<std::uint64_t>(options.part)),
        root_(options.memory + "/disk"),
        grave_(options.memory + "/grave") {}

  void over(const Setup& setup, std::int64_t trials) {
    clean();
    Bench bench(MPI_COMM_WORLD, setup, root_);
    bench.run();  // what is done once in a process
    std::int64_t operations = 0;
    {
      PowerLossFileSystem files(root_, grave_);
      const Verdict whole = bench.run();
      if (whole.ending != Ending::kExact) tally_.complain("with power, " + setup.text(), whole.why);
      operations = files.operations();
    }
    if (operations == 0) return;
    for (std::int64_t i = 0; i < trials; ++i) {
      const std::int64_t at =
          static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(operations)) + 1;
      carry_out(bench, at, random_());
    }
  }

  const Tally& tally() const { return tally_; }
  std::int64_t resumed() const { return resumed_; }

 private:
  void clean() const {
    for (const std::string& directory : {root_, grave_}) {
      fs::remove_all(directory);
      fs::create_directory(directory);
    }
  }

  void carry_out(Bench& bench, std::int64_t at, std::uint64_t seed) {
    const std::string text = "power lost before operation " + std::to_string(at) + ", seed " +
                             std::to_string(seed) + ", " + bench.setup().text();
    begin_trial(text);
    clean();
    // Up to three times: those who go on may be hit, too.
    for (std::uint64_t i = 0; i <= seed % 3; ++i) {
      PowerLossFileSystem files(root_, grave_);
      files.fail_before(i == 0 ? at : at / 2 + 1);
      const Verdict first = bench.run();
      // Nobody hears a process when the power is gone, unless it says a gradient.
      if (first.why.find("WRONG GRADIENT") != std::string::npos) tally_.complain(text, first.why);
      files.lose_what_was_not_synced(seed + i);
    }
    const Verdict again = bench.run();
    tally_.add(bench.setup().text(), again);
    resumed_ += again.resumed ? 1 : 0;
    if (again.ending != Ending::kExact) tally_.complain(text, again.why);
    const std::string left = bench.left_behind();
    if (!left.empty()) tally_.complain(text, "left behind: " + left);
  }

  const LaboratoryOptions& options_;
  std::mt19937_64 random_;
  const std::string root_, grave_;
  std::int64_t resumed_ = 0;
  Tally tally_;
};

int run_all(const LaboratoryOptions& options) {
  PowerLoss losses(options);
  const std::vector<Setup> all = setups();
  const std::int64_t trials = options.full        ? 12000 / options.parts
                              : options.count > 0 ? options.count
                                                  : 300;
  for (const Setup& setup : all) {
    if (setup.text().find(options.only) == std::string::npos) continue;
    losses.over(setup, trials / static_cast<std::int64_t>(all.size()) + 1);
  }
  const int status = conclude(losses.tally(), "run");
  std::printf("\n%lld of these went on where the one before was\n",
              static_cast<long long>(losses.resumed()));
  return losses.resumed() == 0 ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) { return run_laboratory(argc, argv, run_all); }
