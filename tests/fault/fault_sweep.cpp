// SPDX-License-Identifier: BSD-2-Clause
// fault_sweep [--full] [--only TEXT]
//
// What fails, once or from then on, on one rank: every operation of the file system in every way it
// can, and every allocation of the library. (operation or allocation, number, fault, once or
// lasting, run) name a trial. Each gives the exact gradient, or one clean error on every rank;
// nothing is left, and the next run in the same directory works. Files that are kept have every
// state, unless close says otherwise, or the storage did not say that it failed. Leaks of memory
// show under a sanitizer.
//
// MPI, HDF5 and the kernel are real here; faults of files in all kinds of runs are simulated
// (docs/design/simulation.md).
#include <anadrome/gradient.h>
#include <anadrome/store.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "failing_allocations.h"
#include "faulty_file_system.h"
#include "mpi_main.h"
#include "trial.h"
#include "trial_limit.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;
using Bytes = std::vector<unsigned char>;

// Each part of the library that works with files or allocates.
std::vector<Setup> setups() {
  const ModelShape large = {.words = 160}, two_fields = {.words = 70, .fields = 2};
  const ModelShape carried = {.words = 160, .adjoint_fields = true};
  const ModelShape exchanged = {.words = 100, .fields = 2, .registered = Registered::kExchanged};
  const ModelShape packed = {.words = 2, .registered = Registered::kPacked};
  using Options = std::vector<std::pair<std::string, std::string>>;
  const Options keep = {{"keep", "on"}};
  Options resume = {{"resume", "on"}, {"checkpoint_interval", "0"}};
  Options compress = resume;
  for (const auto& option : Options{{"compress", "lz4"}, {"disk", "1MiB"}})
    compress.push_back(option);
  return {
      {.name = "auto, direct", .transport = "auto", .unknown = true, .shape = large, .memory = 3},
      {.name = "kept, direct",
       .interval = "3",
       .layout = "rank",
       .transport = "auto",
       .shape = two_fields,
       .more = keep},
      {.name = "kept, mpio", .interval = "2", .transport = "mpio", .shape = large, .more = keep},
      {.name = "exchanged, two directories",
       .interval = "2",
       .layout = "node",
       .shape = exchanged,
       .memory = 5,
       .two_directories = true},
      {.name = "many packed to a block",
       .interval = "2",
       .steps = 1100,  // of which all may run again, from x_0
       .unknown = true,
       .shape = packed},
      {.name = "resume", .interval = "2", .shape = carried, .memory = 4, .more = resume},
      {.name = "resume, compressed, small disk",
       .interval = "1",
       .layout = "rank",
       .shape = carried,
       .memory = 60,
       .more = compress},
      // Rounding keeps whole numbers.
      {.name = "probe",
       .interval = "2",
       .steps = 64,
       .shape = carried,
       .more = {{"compress", "round"}, {"probe", "on"}}},
      {.name = "revolve", .schedule = "revolve", .shape = large, .memory = 4},
      {.name = "store_all",
       .schedule = "store_all",
       .shape = large,
       .memory = 42,
       .more = {{"progress", "on"}}}};
}

struct Trial {
  std::optional<Operation> operation;  ///< none: an allocation
  Fault fault = Fault::kNone;
  std::int64_t at = 0;
  bool lasting = false;

  std::string kind() const { return operation ? to_string(fault) : "allocation"; }
  std::string text() const {
    const std::string what =
        operation ? kind() + " at " + to_string(*operation) : std::string("allocation");
    return what + " " + std::to_string(at) + (lasting ? " and all later ones" : "");
  }
};

bool is_so_on_any_rank(bool fact) {
  int any = fact ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

// What became of the trials: the table of docs/reliability.md.
class Tally {
 public:
  void add(const std::string& kind, Ending ending) {
    ++rows_[kind][static_cast<std::size_t>(ending)];
    ++trials_;
  }
  /// A trial that did not give what it must; the first few are printed at once.
  void complain(const std::string& trial, const std::string& why) {
    constexpr std::int64_t kMost = 40;
    if (++complaints_ <= kMost) std::fprintf(stderr, "%s: %s\n", trial.c_str(), why.c_str());
  }
  /// Collective; what main returns.
  int conclude(int rank) const {
    if (rank == 0) {
      std::printf("| fault | exact gradient | clean error | anything else |\n|---|---|---|---|\n");
      for (const auto& [kind, row] : rows_)
        std::printf("| %s | %d | %d | %d |\n", kind.c_str(), row[0], row[1], row[2]);
    }
    return is_so_on_any_rank(complaints_ > 0) || trials_ == 0 ? 1 : 0;
  }

 private:
  std::map<std::string, std::array<int, 3>> rows_;
  std::int64_t trials_ = 0, complaints_ = 0;
};

// The ranks meet in every callback, as where halos are exchanged: who leaves alone lets the others
// wait for ever. One of them may fail in a step.
struct Callbacks {
  double x = 0, m = 1, y = 0;
  bool fails = false;

  static Callbacks& meet(void* context) {
    MPI_Barrier(MPI_COMM_WORLD);
    return *static_cast<Callbacks*>(context);
  }
  anadrome_run* open() {
    anadrome_run* run = nullptr;
    anadrome_open(MPI_COMM_WORLD, &run);
    anadrome_set(run, "schedule", "store_all");
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &x, 1);
    anadrome_add_field(run, "y", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, &y, 1);
    return run;
  }
  anadrome_model model() {
    anadrome_model model{};
    model.size = sizeof model;
    model.context = this;
    model.start = [](void* here) { return meet(here).x = meet(here).m, 0; };
    model.advance = [](void* here, std::int64_t first, std::int64_t last, std::int64_t*) {
      for (std::int64_t step = first; step < last; ++step) meet(here).x *= 1.01;
      return meet(here).fails && first <= 3 && 3 < last ? 1 : 0;
    };
    model.turn = [](void* here, std::int64_t) { return meet(here).y = 1, 0; };
    model.adjoint = [](void* here, std::int64_t) { return meet(here).y *= 1.01, 0; };
    return model;
  }
  anadrome_gradient gradient() {
    anadrome_gradient gradient{};
    gradient.size = sizeof gradient;
    gradient.context = this;
    gradient.perturb = [](void* here, std::int64_t, double e) { return meet(here).m = 1 + e, 0; };
    gradient.objective = [](void* here, double* value) { return *value = meet(here).x, 0; };
    gradient.derivative = [](void* here, std::int64_t, double* value) {
      return *value = meet(here).y, 0;
    };
    gradient.pairs = "x=y";
    return gradient;
  }
};

// A fixed program over a store of 256 KiB, whose objects have up to 40 KiB and need a disk. A call
// does what it says or is ERR_MEMORY and changes nothing, and the objects are there when there is
// memory again.
struct StoreProgram {
  const fs::path directory;
  const bool lasting = false;
  std::string wrong = {};  ///< the first thing

  void expect(bool holds, const char* what) {
    if (!holds && wrong.empty()) wrong = std::string(what) + ": " + anadrome_last_error();
  }
  // A call that has succeeded; one that lacked memory has not.
  bool done(anadrome_status status, const char* call) {
    expect(status == ANADROME_OK || status == ANADROME_ERR_MEMORY, call);
    return status == ANADROME_OK;
  }
  static bool got(anadrome_store* store, std::int64_t key, const Bytes& expected,
                  anadrome_status& status) {
    Bytes found(expected.size());
    const anadrome_part part = {"u", ANADROME_BYTE, found.size(), found.data()};
    status = anadrome_store_get(store, key, 1, &part);
    return status != ANADROME_OK || found == expected;
  }
  // How much it allocated until there was memory again.
  std::int64_t go() {
    const std::string options = "memory=256KiB directory=" + directory.string();
    anadrome_store* store = nullptr;
    if (!done(anadrome_store_open(MPI_COMM_SELF, options.c_str(), &store), "open")) {
      expect(store == nullptr, "a failed open gives a store");
      // Removing files takes memory, too.
      expect(lasting || fs::is_empty(directory), "a failed open leaves files");
      fail_allocation(0, false, true);
      const anadrome_status status = anadrome_store_open(MPI_COMM_SELF, options.c_str(), &store);
      expect(status == ANADROME_OK, "the next open");
      expect(anadrome_store_close(&store) == ANADROME_OK, "close");
      expect(fs::is_empty(directory), "files are left");
      return 0;
    }
    std::mt19937 random(7);
    std::map<std::int64_t, Bytes> objects;
    for (int i = 0; i < 90; ++i) {
      const auto key = static_cast<std::int64_t>(random() % 25);
      const auto what = random() % 10;
      anadrome_status status = ANADROME_OK;
      if (what < 6) {
        Bytes value(random() % 5 == 0 ? random() % 30 : random() % 40000,
                    static_cast<unsigned char>(i));
        const anadrome_part part = {"u", ANADROME_BYTE, value.size(), value.data()};
        if (done(anadrome_store_put(store, key, 1, &part), "put")) objects[key] = value;
      } else if (what == 6) {
        std::vector<std::int64_t> keys;
        for (const auto& [each, value] : objects) keys.push_back(each);
        done(anadrome_store_expect(store, static_cast<std::int64_t>(keys.size()), keys.data()),
             "expect");
      } else if (objects.count(key) == 0) {
        continue;
      } else if (what < 9) {
        expect(got(store, key, objects[key], status), "another object was got");
        done(status, "get");
      } else if (done(anadrome_store_drop(store, key), "drop")) {
        objects.erase(key);
      }
    }
    done(anadrome_store_sync(store), "sync");
    const std::int64_t allocations = anadrome::test::allocations();
    fail_allocation(0, false, true);  // from here on there is memory
    std::int64_t count = 0;
    anadrome_store_keys(store, 0, nullptr, &count);
    expect(count == static_cast<std::int64_t>(objects.size()), "other objects are there");
    for (const auto& [key, value] : objects) {
      anadrome_status status = ANADROME_OK;
      expect(got(store, key, value, status) && status == ANADROME_OK, "an object is lost");
    }
    expect(anadrome_store_sync(store) == ANADROME_OK, "sync with memory");
    expect(anadrome_store_close(&store) == ANADROME_OK, "close");
    expect(fs::is_empty(directory), "files are left");
    return allocations;
  }
};

class Sweep {
 public:
  explicit Sweep(bool full) : full_(full) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void over(const Setup& setup, const std::string& directory) {
    Bench bench(MPI_COMM_WORLD, setup, directory);
    FaultyFileSystem files;
    const std::vector<std::int64_t> counts = count(bench, files);
    const auto each = [&](Trial trial, std::int64_t most) {
      for (trial.at = 1; trial.at <= most; ++trial.at) {
        for (const bool lasting : {false, true}) {
          trial.lasting = lasting;
          if (is_drawn()) carry_out(bench, files, trial);
        }
      }
    };
    for (std::size_t o = 0; o < kOperations; ++o) {
      for (std::size_t f = 1; f < kFaults; ++f) {
        const Trial trial = {static_cast<Operation>(o), static_cast<Fault>(f)};
        // A journal that the disk took otherwise than written may have no mark of a run's files.
        // It counts as a user's then, and the next run refuses the directory.
        const bool unmarked =
            setup.is_on("resume") && is_silent(trial.fault) && trial.operation == Operation::kWrite;
        if (!unmarked && applies(trial.fault, *trial.operation)) each(trial, counts[o]);
      }
    }
    each({}, counts[kOperations]);
  }

  /// Of solve with a callback that fails on the rank without memory, and of check_gradient.
  void over_callbacks(bool solves) {
    const std::string kind = solves ? "a callback fails" : "check_gradient";
    std::int64_t count = 0;
    for (std::int64_t at = 0; at <= count; ++at) {
      const std::string text = "allocation " + std::to_string(at) + ", " + kind;
      begin_trial(text, kSeconds);
      const bool here = at % ranks_ == rank_;
      Callbacks callbacks;
      callbacks.fails = solves && here;
      const anadrome_model model = callbacks.model();
      const anadrome_gradient gradient = callbacks.gradient();
      anadrome_gradient_check check{};
      check.size = sizeof check;
      anadrome_run* run = callbacks.open();
      fail_allocation(here ? at : 0, false, false);
      const anadrome_status status =
          solves ? anadrome_solve(run, 8, &model)
                 : anadrome_check_gradient(run, 8, &model, &gradient, &check);
      const bool hit = is_so_on_any_rank(an_allocation_failed());
      if (at == 0) count = allocations();
      MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      memory_is_back();
      anadrome_close(&run);
      const bool exact = status == ANADROME_OK && check.verdict == ANADROME_VERDICT_RIGHT;
      tally_.add(kind, exact ? Ending::kExact : Ending::kCleanError);
      const bool as_without = solves ? status == ANADROME_ERR_PEER : exact;
      const bool right = as_without || (hit && status == ANADROME_ERR_MEMORY);
      if (is_so_on_any_rank(!right)) tally_.complain(text, "status " + std::to_string(status));
    }
  }

  /// Of a store, on one rank.
  void over_store(const std::string& directory) {
    begin_trial("a store without failures", kSeconds);
    fail_allocation(0, false, true);
    StoreProgram{directory}.go();  // what is allocated once in a process
    fail_allocation(0, false, true);
    StoreProgram whole{directory};
    const std::int64_t count = whole.go();
    if (!whole.wrong.empty()) tally_.complain("a store without failures", whole.wrong);
    for (std::int64_t at = 1; at <= count; at += full_ ? 1 : 5) {
      for (const bool lasting : {false, true}) {
        const Trial trial = {{}, Fault::kNone, at, lasting};
        begin_trial(trial.text() + " of a store", kSeconds);
        StoreProgram program{directory, lasting};
        fail_allocation(at, lasting, true);
        program.go();
        tally_.add("a store", program.wrong.empty() ? Ending::kExact : Ending::kWrong);
        if (!program.wrong.empty()) tally_.complain(trial.text() + " of a store", program.wrong);
      }
    }
  }

  int ranks() const { return ranks_; }
  int conclude() const { return tally_.conclude(rank_); }

 private:
  static constexpr unsigned kSeconds = 60;  // who waits for a rank that left waits for ever

  // All, or one of so many: scattered, so that no kind is left out by arithmetic.
  bool is_drawn() {
    constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15U, kStride = 41;
    return full_ || (++number_ * kScatter >> 32) % kStride == 0;
  }

  // Operations of each kind in a run without faults, and last the allocations.
  std::vector<std::int64_t> count(Bench& bench, FaultyFileSystem& files) {
    const std::string text = "without faults, " + bench.setup().text();
    begin_trial(text, kSeconds);
    bench.run();  // what is done once in a process
    files.disarm();
    fail_allocation(0, false, ranks_ == 1);
    Verdict verdict = bench.run();
    std::vector<std::int64_t> counts;
    for (std::size_t o = 0; o < kOperations; ++o)
      counts.push_back(files.count(static_cast<Operation>(o)));
    counts.push_back(allocations());
    look_at_kept_files(bench, verdict, false);
    if (verdict.ending != Ending::kExact) tally_.complain(text, verdict.why);
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T,
                  MPI_MAX, MPI_COMM_WORLD);
    return counts;
  }

  // They are right where the run says so; `lied`: as far as the storage was honest.
  static void look_at_kept_files(Bench& bench, Verdict& verdict, bool lied) {
    if (!bench.setup().keeps() || verdict.ending != Ending::kExact) return;
    const std::string fault = bench.fault_of_kept_files();
    if (!is_so_on_any_rank(!fault.empty()) || lied) return;
    verdict.ending = Ending::kWrong;
    verdict.why = "kept files: " + fault;
  }

  void carry_out(Bench& bench, FaultyFileSystem& files, const Trial& trial) {
    const std::string text = trial.text() + ", " + bench.setup().text();
    begin_trial(text, kSeconds);
    const bool here = carried_out_++ % ranks_ == rank_;
    files.disarm();
    if (here && trial.operation) files.arm(*trial.operation, trial.at, trial.fault, trial.lasting);
    fail_allocation(here && !trial.operation ? trial.at : 0, trial.lasting, ranks_ == 1);
    Verdict verdict = bench.run([&] {
      if (trial.at % 2 == 0) memory_is_back();  // for close
    });
    const bool hit = is_so_on_any_rank(files.hit() || an_allocation_failed());
    files.disarm();
    memory_is_back();
    look_at_kept_files(bench, verdict, hit && is_silent(trial.fault));
    if (hit) tally_.add(trial.kind(), verdict.ending);
    const bool may_fail =
        hit && (!trial.operation || !must_be_exact(*trial.operation, trial.fault, trial.lasting,
                                                   verdict.is_under_way, bench.setup().keeps()));
    if (verdict.ending == Ending::kWrong) {
      tally_.complain(text, verdict.why);
    } else if (verdict.ending != Ending::kExact && !may_fail) {
      tally_.complain(text, "an error without need: " + verdict.why);
    }
    check_rest(bench, text, verdict);
  }

  // Files may stay where they could not be removed; the next run takes care of them.
  void check_rest(Bench& bench, const std::string& text, const Verdict& verdict) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string left = bench.left_behind();
    if (left.find("descriptors") != std::string::npos || left.find("threads") != std::string::npos)
      tally_.complain(text, "left behind: " + left + "after " + verdict.why);
    constexpr std::int64_t kEach = 8;
    if (!is_so_on_any_rank(!left.empty()) && ++since_next_ % kEach != 0) return;
    Verdict next = bench.run();
    look_at_kept_files(bench, next, false);
    if (next.ending != Ending::kExact) tally_.complain(text, "the run after it: " + next.why);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string still = bench.left_behind();
    if (!still.empty()) tally_.complain(text, "left by the run after it: " + still);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const bool full_;
  int rank_ = 0, ranks_ = 1;
  std::uint64_t number_ = 0;
  std::int64_t carried_out_ = 0, since_next_ = 0;
  Tally tally_;
};

int sweep_over_all(bool full, const std::string& only) {
  const std::string on_disk = fresh_directory("laboratory");
  const std::string in_memory = fresh_directory("laboratory", "/dev/shm");  // has no O_DIRECT
  Sweep sweep(full);
  for (const Setup& setup : setups()) {
    if (setup.text().find(only) != std::string::npos)
      sweep.over(setup, setup.buffered() ? in_memory : on_disk);
  }
  for (const bool solves : {true, false}) sweep.over_callbacks(solves);
  if (sweep.ranks() == 1) sweep.over_store(fresh_directory("store", on_disk.c_str()));
  end_trials();
  const int status = sweep.conclude();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const std::string& directory : {on_disk, in_memory})
    if (rank == 0) fs::remove_all(directory);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  bool full = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    full = full || word == "--full";
    if (word == "--only" && i + 1 < argc) only = argv[++i];
  }
  const int status = sweep_over_all(full, only);
  MPI_Finalize();
  return status;
}
