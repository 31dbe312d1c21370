// SPDX-License-Identifier: BSD-2-Clause
#include "job.h"

#include <mpi.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "model_passes.h"
#include "power_loss_file_system.h"
#include "slow_files.h"

namespace anadrome::simulation {
namespace {

namespace fs = std::filesystem;
using test::Fault;
using test::Operation;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return least + below(most - least + 1);
  }
  bool one_in(std::int64_t times) { return below(times) == 0; }
  template <class Value, std::size_t n>
  const Value& of(const std::array<Value, n>& values) {
    return values[static_cast<std::size_t>(below(n))];
  }

 private:
  std::mt19937_64 random_;
};

Costs drawn_costs(Draw& draw) {
  // Steps and transfers from much shorter to much longer than each other.
  constexpr std::array<double, 5> kSeconds = {0, 1e-6, 1e-4, 1e-3, 2e-2};
  Costs costs;
  costs.latency = draw.of(kSeconds);
  costs.metadata = draw.of(kSeconds);
  costs.transfer = draw.of(kSeconds);
  costs.step = draw.of(kSeconds);
  costs.per_file_byte = draw.one_in(2) ? 1e-9 : 1e-6;
  costs.spread = draw.one_in(3) ? 0 : 0.9;
  return costs;
}

void draw_shape(Draw& draw, Job& job) {
  test::Setup& setup = job.setup;
  test::ModelShape& shape = setup.shape;
  shape.words = static_cast<std::size_t>(draw.one_in(4) ? draw.from(1, 3) : draw.from(1, 160));
  shape.fields = static_cast<std::size_t>(draw.one_in(2) ? 1 : draw.from(2, 3));
  constexpr std::array kKinds = {test::Registered::kArray, test::Registered::kArray,
                                 test::Registered::kExchanged, test::Registered::kPacked};
  shape.registered = draw.of(kKinds);
  shape.sparse = draw.one_in(3);
  shape.adjoint_fields = job.resumes || draw.one_in(4);
  shape.coupled = !draw.one_in(4);
}

void draw_options(Draw& draw, Job& job) {
  test::Setup& setup = job.setup;
  const auto set = [&](const char* key, const std::string& value) {
    setup.more.push_back({key, value});
  };
  constexpr std::array<const char*, 8> kSchedules = {"async", "async",   "async",     "async",
                                                     "async", "revolve", "store_all", "auto"};
  setup.schedule = job.resumes ? "async" : draw.of(kSchedules);
  setup.name = setup.schedule;
  constexpr std::array<const char*, 3> kLayouts = {"shared", "node", "rank"};
  setup.layout = draw.of(kLayouts);
  setup.direct = draw.one_in(3) ? "auto" : "off";
  setup.unknown = draw.one_in(3);
  const bool on_disk = setup.schedule == "async";
  if (on_disk && !draw.one_in(3)) setup.interval = std::to_string(draw.from(1, 6));
  if (setup.schedule == "store_all") {
    setup.memory = static_cast<double>(setup.steps + 3);
  } else {
    setup.memory = static_cast<double>(draw.from(10, 60)) / 10;
  }
  if (job.resumes) {
    set("resume", "on");
    constexpr std::array<const char*, 3> kEvery = {"0", "1ms", "0.1"};
    set("checkpoint_interval", draw.of(kEvery));
  }
  setup.two_directories = draw.one_in(5);
  const bool plain = setup.shape.registered == test::Registered::kArray;
  if (plain && !job.resumes && on_disk && !setup.interval.empty() && !setup.two_directories &&
      draw.one_in(3)) {
    set("keep", "on");
  } else if (draw.one_in(2)) {
    job.compresses = true;
    set("compress", draw.one_in(3) ? "round" : "lz4");  // whole numbers stay whole
  }
  constexpr std::array<const char*, 3> kAudits = {"warn", "error", "exact"};
  if (draw.one_in(6)) set("audit", draw.of(kAudits));
  if (draw.one_in(4)) set("preflight", "off");
  if (draw.one_in(6)) set("watchdog", "1000");
  if (on_disk && !setup.keeps() && draw.one_in(5)) {
    const std::int64_t room = draw.from(70, 900) * job.ranks;
    set("disk", std::to_string(room) + (setup.two_directories ? "KiB,unlimited" : "KiB"));
    if (!setup.two_directories) job.disk = room << 10;
  }
  if (draw.one_in(8)) set("bandwidth_limit", "1MB/s");
  const bool probe = on_disk && setup.shape.adjoint_fields && draw.one_in(4);
  if (probe) set("probe", "on");
  if (plain && !probe && draw.one_in(4)) {
    const std::int64_t passes = draw.from(1, 3);
    constexpr std::array kPasses = {'F', 'R', 'W'};
    for (std::int64_t i = 0; i < passes; ++i) job.passes += draw.of(kPasses);
    set("passes", std::to_string(passes));
  }
  // As many small states share a block, the least for one of them says little.
  if (setup.shape.words < 8) set("memory", std::to_string(draw.from(100, 300)) + "KiB");
}

Mishap drawn_mishap(Draw& draw, const Job& job) {
  Mishap mishap;
  constexpr std::array kKinds = {Mishap::kKill,  Mishap::kKill, Mishap::kPowerLoss,  Mishap::kFault,
                                 Mishap::kFault, Mishap::kStop, Mishap::kCorruption, Mishap::kFail};
  mishap.kind = draw.of(kKinds);
  if (mishap.kind == Mishap::kStop && !job.resumes) mishap.kind = Mishap::kKill;
  const std::int64_t work = job.setup.steps * job.ranks;
  const std::int64_t turn = draw.from(1, 400 + 40 * work);
  switch (mishap.kind) {
    case Mishap::kKill:
    case Mishap::kPowerLoss:
      mishap.killed_at = turn;
      break;
    case Mishap::kStop:
      mishap.at = draw.from(1, 4 * job.setup.steps);
      break;
    case Mishap::kFail: {
      const bool calls = job.setup.shape.registered == test::Registered::kPacked;
      mishap.at = draw.from(1, 4 * job.setup.steps);
      if (calls && draw.one_in(2)) mishap.deed = draw.one_in(2) ? Mishap::kPack : Mishap::kUnpack;
      // A rank that left its steps would be waited for in the model's own messages.
      if (!job.setup.shape.coupled && job.ranks > 1 && draw.one_in(2))
        mishap.deed = draw.one_in(2) ? Mishap::kCloses : Mishap::kBegins;
      break;
    }
    case Mishap::kFault: {
      do {
        mishap.operation = static_cast<Operation>(draw.below(test::kOperations));
        mishap.fault = static_cast<Fault>(draw.from(1, static_cast<int>(test::kFaults) - 1));
      } while (!test::applies(mishap.fault, mishap.operation) ||
               mishap.fault == Fault::kCorrupted || mishap.fault == Fault::kLost ||
               mishap.fault == Fault::kFlippedBit);
      mishap.lasting = draw.one_in(3);
      const bool often =
          mishap.operation == Operation::kWrite || mishap.operation == Operation::kRead;
      mishap.at = draw.from(1, often ? 20 + 2 * work : 6 + 4 * job.ranks);
      if (draw.one_in(3)) mishap.killed_at = turn;
      break;
    }
    case Mishap::kCorruption: {
      constexpr std::array kSilent = {Fault::kFlippedBit, Fault::kCorrupted, Fault::kLost};
      mishap.fault = draw.of(kSilent);
      mishap.operation = mishap.fault == Fault::kFlippedBit ? Operation::kRead : Operation::kWrite;
      mishap.at = draw.from(1, 20 + 2 * work);
      if (draw.one_in(2)) mishap.killed_at = turn;
      break;
    }
    case Mishap::kNone:
      break;
  }
  return mishap;
}

// What a run in its process tells the one above it.
struct Report {
  bool told = false;
  test::Ending ending = test::Ending::kWrong;
  bool resumed = false, hit = false, stopped = false;
  std::uint64_t trace = 0;
  std::int64_t turns = 0;
  std::array<char, 400> why{};
};

// One run on all ranks of a world; in a process of its own.
class Run {
 public:
  Run(const Job& job, const Mishap& mishap, const std::string& directory, std::uint64_t seed,
      Report& report)
      : job_(job), mishap_(mishap), directory_(directory), seed_(seed), report_(report) {}

  int carry_out() {
    std::optional<test::PowerLossFileSystem> power;
    if (mishap_.kind == Mishap::kPowerLoss)
      power.emplace(directory_ + "/disk", directory_ + "/grave");
    SlowFiles slow;
    test::FaultyFileSystem faulty;
    faulty_ = &faulty;
    World world(seed_, job_.ranks, job_.ranks_per_node, job_.costs);
    const auto last = [&] {
      report_.trace = world.trace();
      report_.turns = world.turns();
      if (power) power->lose_what_was_not_synced(seed_);
    };
    if (mishap_.killed_at > 0) world.kill_after(mishap_.killed_at, last);
    world.run([&](int rank) { on_rank(rank); });
    report_.trace = world.trace();
    report_.turns = world.turns();
    report_.hit = faulty.hit();
    const std::string left = left_in_threads() + left_in_mpi();
    if (left.empty() && world.idle() > 0)
      world.end(kIdle, std::to_string(world.idle()) + " s were waited for nothing");
    if (left.empty()) return kEnded;
    std::fprintf(stderr, "simulation: %s\n", left.c_str());
    return kLeft;
  }

 private:
  void on_rank(int rank) {
    test::Bench bench(MPI_COMM_WORLD, job_.setup, directory_ + "/disk");
    MPI_Barrier(MPI_COMM_WORLD);
    const bool faults = mishap_.kind == Mishap::kFault || mishap_.kind == Mishap::kCorruption;
    if (rank == 0 && faults)
      faulty_->arm(mishap_.operation, mishap_.at, mishap_.fault, mishap_.lasting);
    MPI_Barrier(MPI_COMM_WORLD);
    test::SweepResult result;
    anadrome_run* run = bench.open(result);
    bool sweeps = true;
    std::int64_t actions = 0;
    std::uint64_t all_actions = 1;
    bench.model().before_action = [&](const anadrome_action& action) {
      for (const std::int64_t number :
           {std::int64_t{action.kind}, action.first, action.last, std::int64_t{action.again}})
        all_actions = (all_actions ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15U;
      const bool now = ++actions == mishap_.at && action.kind != ANADROME_DONE;
      if (mishap_.kind == Mishap::kStop && now && rank == 0) anadrome_request_stop(run);
      if (mishap_.kind == Mishap::kFail && now && rank == job_.ranks - 1)
        fail(run, bench.model(), sweeps);
      const std::int64_t last = std::min(action.last, job_.setup.steps);  // n may be unknown
      const std::int64_t steps = action.kind == ANADROME_ADVANCE ? last - action.first : 1;
      const double seconds = job_.costs.step * static_cast<double>(steps);
      self()->computed += seconds;
      world()->spend_about(seconds, "a step");
    };
    if (run != nullptr)
      result = test::sweep(run, bench.model(), job_.setup.steps, job_.setup.unknown);
    sweeps = false;
    std::string wrong;
    if (result.done) wrong = fault_of_numbers(run, result);
    for (const char letter : job_.passes) {
      if (!result.done || !wrong.empty()) break;
      wrong = fault_of_pass(run, bench.model(), letter, result);
    }
    const bool stopped = result.status == ANADROME_STOPPED;
    if (bench.model().leaves && mishap_.deed == Mishap::kBegins) {
      result.status = anadrome_begin(run, job_.setup.steps);
      result.message = anadrome_last_error();
    }
    const bool closes = bench.model().leaves && mishap_.deed == Mishap::kCloses;
    const anadrome_status closed = anadrome_close(&run);
    const std::string message = closed != ANADROME_OK ? anadrome_last_error() : "";
    if (closes) {
      result.status = closed;
      result.message = message;
    }
    const bool failed = mishap_.kind == Mishap::kFail && result.status == ANADROME_ERR_PEER;
    if (failed && job_.ranks > 1 &&
        result.message.find("rank " + std::to_string(job_.ranks - 1)) == std::string::npos)
      wrong = "nobody says who failed: " + result.message;
    const bool left = mishap_.kind == Mishap::kFail &&
                      mishap_.deed >= Mishap::kCloses;  // so it gets fewer actions
    if (left) all_actions = 0;
    // The same on all ranks: how it ended, and every action.
    std::array<std::uint64_t, 7> all = {stopped ? 1U : 0U,      stopped ? 0U : 1U, failed ? 1U : 0U,
                                        failed ? 0U : 1U,       all_actions,       ~all_actions,
                                        wrong.empty() ? 0U : 1U};
    MPI_Allreduce(MPI_IN_PLACE, all.data(), 7, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] + all[1] == 2 || all[2] + all[3] == 2)
      wrong = "some ranks stopped or failed, others went on";
    if (all[4] != ~all[5]) wrong = "ranks got other actions than others";
    if (all[6] != 0 && wrong.empty()) wrong = "another rank found a fault";
    test::Verdict verdict;
    if (!wrong.empty()) {
      std::fprintf(stderr, "rank %d: %s\n", rank, wrong.c_str());
      verdict.why = wrong;
    } else if (stopped || failed) {
      verdict.ending =
          closed == ANADROME_OK || failed ? test::Ending::kCleanError : test::Ending::kWrong;
      verdict.why = closed == ANADROME_OK ? "stopped" : message;
    } else {
      verdict = bench.judge(result, closed, message);
    }
    if (verdict.ending == test::Ending::kExact && keeps()) check_kept(bench, verdict);
    if (rank != 0) return;
    report_.told = true;
    report_.ending = verdict.ending;
    report_.resumed = result.resumed;
    report_.stopped = stopped;
    std::snprintf(report_.why.data(), report_.why.size(), "%s", verdict.why.c_str());
  }

  void fail(anadrome_run* run, test::ModularModel& model, bool sweeps) const {
    switch (mishap_.deed) {
      case Mishap::kSaysSo:
        anadrome_fail(run, "the solver diverged");
        break;
      case Mishap::kPack:
        model.pack_returns = 17;
        break;
      case Mishap::kUnpack:
        model.unpack_returns = 17;
        break;
      case Mishap::kCloses:
      case Mishap::kBegins:
        model.leaves = sweeps;  // passes have a loop of their own
        break;
    }
  }

  bool keeps() const { return job_.setup.keeps(); }

  // Files that stay have the states that were meant for disk, unless something befell the disk.
  void check_kept(test::Bench& bench, test::Verdict& verdict) {
    const std::string fault = bench.fault_of_kept_files();
    if (fault.empty() || mishap_.kind == Mishap::kFault || mishap_.kind == Mishap::kCorruption)
      return;
    verdict.ending = test::Ending::kWrong;
    verdict.why = fault;
  }

  // Of a sweep that is done.
  std::string fault_of_numbers(anadrome_run* run, const test::SweepResult& result) const {
    anadrome_stats of{};
    of.size = sizeof of;
    anadrome_statistics(run, &of);
    if (of.peak_library_bytes > of.memory_bytes)
      return "memory: " + std::to_string(of.peak_library_bytes) + " bytes of " +
             std::to_string(of.memory_bytes);
    if (job_.disk >= 0 && !job_.compresses && of.disk_bytes_reserved_all_ranks > job_.disk)
      return "disk: " + std::to_string(of.disk_bytes_reserved_all_ranks) + " bytes of " +
             std::to_string(job_.disk);
    const bool undisturbed = mishap_.kind == Mishap::kNone && !result.resumed;
    if (undisturbed && of.forward_steps_planned >= 0 &&
        of.forward_steps_taken != of.forward_steps_planned)
      return std::to_string(of.forward_steps_taken) + " steps, planned " +
             std::to_string(of.forward_steps_planned);
    return "";
  }

  // After it `result` is that of the pass, and its gradient the sweep's.
  std::string fault_of_pass(anadrome_run* run, test::ModularModel& model, char letter,
                            test::SweepResult& result) const {
    const std::uint64_t gradient = result.gradient;
    const bool resumed = result.resumed;
    std::string fault;
    if (letter == 'W') {
      result = rewound(run, model);
      if (result.done && result.gradient != gradient) fault = "another gradient after a rewind";
    } else {
      const auto direction = letter == 'F' ? ANADROME_PASS_FORWARD : ANADROME_PASS_REVERSE;
      result = test::pass(run, model, direction);
      if (result.done &&
          result.gradient != test::states_in_order(model, job_.setup.steps, direction))
        fault = "a pass saw other states";
    }
    result.gradient = gradient;
    result.resumed = resumed;
    return fault;
  }

  static test::SweepResult rewound(anadrome_run* run, test::ModularModel& model) {
    test::SweepResult result;
    anadrome_action action;
    result.status = anadrome_rewind(run);
    model.clear_adjoint();
    while (result.status == ANADROME_OK && !result.done) {
      result.status = anadrome_next(run, &action);
      if (result.status != ANADROME_OK) break;
      if (model.before_action) model.before_action(action);
      result.kept_its_word = model.act(run, action) && result.kept_its_word;
      result.done = action.kind == ANADROME_DONE;
      result.gradient = model.gradient();
    }
    if (!result.done) result.message = anadrome_last_error();
    return result;
  }

  const Job& job_;
  const Mishap& mishap_;
  const std::string directory_;
  const std::uint64_t seed_;
  Report& report_;
  test::FaultyFileSystem* faulty_ = nullptr;
};

// disk= may be less than any state takes, and that shows in begin.
bool is_too_small(const std::string& why) {
  return why.find("the least that is written at once") != std::string::npos;
}

// A file whose bytes are not those of a run may be a user's, whatever its name is: a run leaves it
// alone.
bool is_refused(const std::string& why) {
  return why.find("nothing says is a run's") != std::string::npos;
}

// In `directory`, but for the empty one that was there.
std::string files_in(const fs::path& directory) {
  std::string names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() != "fast")
      names += " " + entry.path().lexically_relative(directory).string();
  }
  return names;
}

}  // namespace

std::string Mishap::text() const {
  constexpr std::array<const char*, 7> kNames = {"nothing", "a kill",     "power lost",  "fault",
                                                 "stopped", "corruption", "a rank fails"};
  std::string text = kNames[static_cast<std::size_t>(kind)];
  if (kind == kFault || kind == kCorruption) {
    text += std::string(", ") + to_string(fault) + " at " + to_string(operation);
  }
  if (kind == kFail) text += ", deed " + std::to_string(static_cast<int>(deed));
  if (at > 0) text += " " + std::to_string(at);
  if (killed_at > 0) text += " killed at turn " + std::to_string(killed_at);
  return text + (lasting ? " and all later ones" : "");
}

Job Job::drawn(std::uint64_t seed) {
  Draw draw(seed * 0x9e3779b97f4a7c15U + 1);
  Job job;
  job.seed = seed;
  constexpr std::array<int, 10> kRanks = {1, 1, 2, 2, 2, 3, 3, 4, 5, 8};
  job.ranks = draw.of(kRanks);
  job.ranks_per_node = static_cast<int>(draw.from(1, job.ranks));
  job.costs = drawn_costs(draw);
  job.resumes = draw.one_in(2);
  job.setup.steps = draw.one_in(10) ? draw.from(1, 3) : draw.from(4, 60);
  draw_shape(draw, job);
  draw_options(draw, job);
  const std::int64_t before = draw.below(4);
  for (std::int64_t i = 0; i < before; ++i) job.runs.push_back(drawn_mishap(draw, job));
  job.runs.emplace_back();
  return job;
}

std::string Job::text() const {
  const test::ModelShape& shape = setup.shape;
  std::string text =
      "seed " + std::to_string(seed) + ": " + std::to_string(ranks) + " ranks (" +
      std::to_string(ranks_per_node) + " to a node), " + std::to_string(setup.steps) + " steps" +
      (setup.unknown ? ", n unknown" : "") + ", " + std::to_string(shape.fields) + " fields of " +
      std::to_string(shape.words) + " words, kind " +
      std::to_string(static_cast<int>(shape.registered)) + ", schedule=" + setup.schedule +
      " interval=" + setup.interval + " layout=" + setup.layout + " direct=" + setup.direct +
      " memory x " + std::to_string(setup.memory) + (passes.empty() ? "" : " then " + passes) +
      (setup.two_directories ? " two directories" : "");
  for (const auto& [key, value] : setup.more) text += " " + key + "=" + value;
  for (const Mishap& mishap : runs) text += "; " + mishap.text();
  return text;
}

Result carry_out(const Job& job, const std::string& directory) {
  Result result;
  void* const shared =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const report = new (shared) Report;
  bool wrote_other_bytes = false, cleaned = true;
  for (const char* name : {"/disk", "/grave"}) fs::create_directory(directory + name);
  for (std::size_t i = 0; i < job.runs.size() && result.fault.empty(); ++i) {
    const Mishap& mishap = job.runs[i];
    *report = Report{};
    const std::uint64_t seed = (job.seed + 1) * 1000003 + i;
    const pid_t child = fork();
    if (child == 0) {
      alarm(300);  // a circle without a turn
      _exit(Run(job, mishap, directory, seed, *report).carry_out());
    }
    int status = 0;
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result.trace = result.trace * 31 + report->trace;
    result.turns += report->turns;
    const bool last = i + 1 == job.runs.size();
    const std::string where = "run " + std::to_string(i + 1) + " (" + mishap.text() + "): ";
    if (code == kKilled) {
      ++result.killed;
    } else if (code != kEnded) {
      result.fault = where + "the process ended with " + std::to_string(code);
    } else if (!report->told) {
      result.fault = where + "no verdict";
    } else if (is_refused(report->why.data()) && wrote_other_bytes) {
      ++result.errors;
      cleaned = false;
      break;
    } else if (report->ending == test::Ending::kWrong) {
      result.fault = where + report->why.data();
    } else if (report->ending == test::Ending::kCleanError && mishap.kind == Mishap::kNone &&
               !is_too_small(report->why.data())) {
      result.fault = where + "an error without a cause: " + report->why.data();
    } else if (report->ending == test::Ending::kExact && !last &&
               files_in(directory + "/disk") != "" && mishap.kind != Mishap::kFault &&
               mishap.kind != Mishap::kCorruption) {
      result.fault = where + "left" + files_in(directory + "/disk");
    }
    wrote_other_bytes = wrote_other_bytes || mishap.kind == Mishap::kPowerLoss ||
                        mishap.kind == Mishap::kCorruption;
    result.resumed += report->resumed ? 1 : 0;
    result.hit += report->hit ? 1 : 0;
    result.errors +=
        report->ending == test::Ending::kCleanError && !report->stopped && code == kEnded ? 1 : 0;
  }
  if (cleaned && result.fault.empty() && !files_in(directory + "/disk").empty())
    result.fault = "left" + files_in(directory + "/disk");
  munmap(shared, sizeof(Report));
  fs::remove_all(directory + "/disk");
  fs::remove_all(directory + "/grave");
  return result;
}

}  // namespace anadrome::simulation
