// SPDX-License-Identifier: BSD-2-Clause
// What a job is, by its seed.
#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "job.h"

namespace anadrome::simulation {
namespace {

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
  const bool undoes = job.seed % 8 == 5;  // the other seeds draw what they did before
  if (undoes) setup.schedule = "undo";
  job.compresses = undoes;
  setup.name = setup.schedule;
  constexpr std::array<const char*, 3> kLayouts = {"shared", "node", "rank"};
  setup.layout = draw.of(kLayouts);
  setup.transport = draw.one_in(3) ? "auto" : "buffered";
  setup.unknown = draw.one_in(3);
  const bool on_disk = setup.schedule == "async" || undoes;
  if (on_disk && !undoes && !draw.one_in(3)) setup.interval = std::to_string(draw.from(1, 6));
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
  setup.two_directories = draw.one_in(5) && !(undoes && job.resumes);  // one may be gone
  if (undoes && setup.shape.registered == test::Registered::kExchanged)
    setup.shape.registered = test::Registered::kArray;
  const bool plain = setup.shape.registered == test::Registered::kArray && !undoes;
  if (plain && !job.resumes && on_disk && !setup.interval.empty() && !setup.two_directories &&
      draw.one_in(3)) {
    set("keep", "on");
  } else if (draw.one_in(2)) {
    job.compresses = true;
    set("compress", draw.one_in(3) && !undoes ? "round" : "lz4");  // whole numbers stay whole
  }
  constexpr std::array<const char*, 4> kAudits = {"off", "warn", "error", "exact"};
  if (draw.one_in(4)) set("audit", draw.of(kAudits));
  if (draw.one_in(6)) set("watchdog", "1000");
  if (on_disk && !setup.keeps() && draw.one_in(5)) {
    const std::int64_t room = draw.from(70, 900) * job.ranks;
    set("disk", std::to_string(room) + (setup.two_directories ? "KiB,unlimited" : "KiB"));
    if (!setup.two_directories) job.disk = room << 10;
  }
  if (draw.one_in(8)) set("bandwidth_limit", "1MB/s");
  const bool probe = on_disk && !undoes && setup.shape.adjoint_fields && draw.one_in(4);
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
      " interval=" + setup.interval + " layout=" + setup.layout + " transport=" + setup.transport +
      " memory x " + std::to_string(setup.memory) + (passes.empty() ? "" : " then " + passes) +
      (setup.two_directories ? " two directories" : "");
  for (const auto& [key, value] : setup.more) text += " " + key + "=" + value;
  for (const Mishap& mishap : runs) text += "; " + mishap.text();
  return text;
}

}  // namespace anadrome::simulation
