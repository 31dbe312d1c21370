// SPDX-License-Identifier: BSD-2-Clause
// api_calls FIRST COUNT [-v]: random programs over the C interface, on one rank, from seeds FIRST,
// FIRST + 1, ...: calls in any order, with arguments that make sense and with absurd ones. Where a
// program happens to do what the actions say, every state must be the right one; whatever it does,
// statuses and messages must be what the header promises. Any that goes wrong is named by its seed,
// with which it can be run again alone.
#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "random_caller.h"

namespace anadrome::test {
namespace {

// The calls made, for a report of how much was covered.
struct CallCounts {
  std::int64_t calls = 0, refused = 0, begun = 0, done = 0, states_checked = 0;
};

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// Choices, as many as a program has; the first of each kind, when there are none left.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed), left_(40 + random_() % 400) {}
  bool left() const { return left_ > 0; }
  std::size_t below(std::size_t count) {
    if (left_ == 0) return 0;
    --left_;
    return random_() % count;
  }
  bool once_in(std::size_t count) { return below(count) == count - 1; }
  template <class Value, std::size_t kCount>
  const Value& one_of(const std::array<Value, kCount>& values) {
    return values[below(kCount)];
  }

 private:
  std::mt19937_64 random_;
  std::size_t left_;
};

int pack(void* context, void* buffer, std::size_t bytes) {
  const auto& field = *static_cast<RandomCaller::Registered*>(context);
  if (field.owner->packing_fails || bytes != field.bytes) return 1;
  std::copy_n(field.values.begin(), bytes, static_cast<unsigned char*>(buffer));
  return 0;
}

int unpack(void* context, const void* buffer, std::size_t bytes) {
  auto& field = *static_cast<RandomCaller::Registered*>(context);
  if (field.owner->packing_fails || bytes != field.bytes) return 1;
  std::copy_n(static_cast<const unsigned char*>(buffer), bytes, field.values.begin());
  return 0;
}

class Sequence {
 public:
  Sequence(std::uint64_t seed, const std::string& directory, CallCounts& counts)
      : choose_(seed), directory_(directory), counts_(counts) {}

  std::string play() {
    for (RandomCaller& caller : callers_) {
      if (choose_.once_in(4)) continue;
      open(caller);
      register_field(caller);
    }
    while (choose_.left() && wrong().empty()) call();
    for (RandomCaller& caller : callers_) {
      note(anadrome_close(&caller.run));
      note(anadrome_close(&caller.run));  // once more is fine
      counts_.states_checked += caller.states_checked;
    }
    return wrong();
  }

 private:
  std::string wrong() const {
    for (const RandomCaller& caller : callers_) {
      if (!caller.wrong.empty()) return caller.wrong;
    }
    return wrong_;
  }

  // Every status is one of the header's and has a line of text; none is a defect.
  anadrome_status note(anadrome_status status) {
    ++counts_.calls;
    if (status == ANADROME_OK) return status;
    ++counts_.refused;
    const std::string text = anadrome_last_error();
    const bool known = status > ANADROME_OK && status < ANADROME_ERR_INTERNAL;
    if (!known || text.empty() || text.find('\n') != std::string::npos) {
      wrong_ = std::string(anadrome_status_name(status)) + ": '" + text + "'";
    }
    return status;
  }

  void call() {
    using Call = void (Sequence::*)(RandomCaller&);
    static constexpr std::array<Call, 16> kCalls = {
        &Sequence::open,  &Sequence::set,     &Sequence::set,   &Sequence::register_field,
        &Sequence::begin, &Sequence::begin,   &Sequence::go_on, &Sequence::register_field,
        &Sequence::go_on, &Sequence::go_on,   &Sequence::go_on, &Sequence::rewind,
        &Sequence::look,  &Sequence::disturb, &Sequence::solve, &Sequence::close_seldom};
    RandomCaller& caller = callers_[choose_.below(callers_.size())];
    (this->*choose_.one_of(kCalls))(caller);
  }

  void rewind(RandomCaller& caller) {
    if (note(anadrome_rewind(caller.run)) != ANADROME_OK) lose_track(caller);
  }

  static void lose_track(RandomCaller& caller) {
    // A refused call changes nothing while a sweep goes on; a failed one ends it. Both are allowed.
    caller.go_astray();
  }

  void open(RandomCaller& caller) {
    if (choose_.once_in(8)) {
      anadrome_run* none = caller.run;  // not the handle itself, which would be lost
      note(anadrome_open(MPI_COMM_NULL, &none));
      if (none != nullptr) wrong_ = "a failed open gave a handle";
      note(anadrome_open(MPI_COMM_SELF, nullptr));
      return;
    }
    close(caller);
    if (note(anadrome_open(MPI_COMM_SELF, &caller.run)) != ANADROME_OK) return;
    const std::string name = "run" + std::to_string(&caller - callers_.data());
    note(anadrome_set(caller.run, "directory", directory_.c_str()));
    note(anadrome_set(caller.run, "name", name.c_str()));
    note(anadrome_set(caller.run, "memory", "256KiB"));
  }

  void close(RandomCaller& caller) {
    note(anadrome_close(&caller.run));
    if (caller.run != nullptr) wrong_ = "close left a handle";
    caller.fields.clear();
    caller.go_astray();
  }

  void close_seldom(RandomCaller& caller) {
    if (choose_.once_in(3)) close(caller);
  }

  void set(RandomCaller& caller) {
    static constexpr std::array kSchedules = {"auto",  "store_all",    "revolve", "async",
                                              "mixed", "disk_revolve", "best"};
    static constexpr std::array kSizes = {"16KiB", "100KiB", "1MiB", "0", "1B", "-1", "1e400GiB"};
    static constexpr std::array kNumbers = {"1", "2", "3", "auto", "9223372036854775807", "0"};
    static constexpr std::array kDisks = {"unlimited", "100KiB", "0"};
    static constexpr std::array kLayouts = {"rank", "node", "shared"};
    static constexpr std::array kTransports = {"buffered", "auto", "mpio", "direct", "maybe"};
    const auto give = [&](const char* key, const char* value) {
      note(anadrome_set(caller.run, key, value));
    };
    switch (choose_.below(8)) {
      case 0:
        return give("schedule", choose_.one_of(kSchedules));
      case 1:
        return give("memory", choose_.one_of(kSizes));
      case 2:
        return give("interval", choose_.one_of(kNumbers));
      case 3:
        return give("checkpoints", choose_.one_of(kNumbers));
      case 4:
        return give("disk", choose_.one_of(kDisks));
      case 5:
        return give("layout", choose_.one_of(kLayouts));
      case 6:
        return give("transport", choose_.one_of(kTransports));
      default:
        give("name", "../up");
        give("", "");
        give("schedul", "async");
        give(nullptr, "1");
        give("memory", nullptr);
    }
  }

  void register_field(RandomCaller& caller) {
    static constexpr std::array<const char*, 4> kNames = {"u", "v", "w", "x"};
    static constexpr std::array<const char*, 6> kWrongNames = {"",    ".",   "..",
                                                               "a/b", "u\n", nullptr};
    static constexpr std::array<std::size_t, 6> kCounts = {1, 3, 100, 0, 600, 5000};
    static constexpr std::array<std::size_t, 4> kAbsurdCounts = {
        std::numeric_limits<std::size_t>::max(), static_cast<std::size_t>(kHuge),
        std::size_t{1} << 60, std::size_t{1} << 44};
    const char* name = choose_.once_in(16) ? choose_.one_of(kWrongNames) : choose_.one_of(kNames);
    const auto role = static_cast<anadrome_role>(
        choose_.once_in(4) ? 1 + choose_.below(4) : std::size_t{ANADROME_ROLE_STATE});
    const auto type = static_cast<anadrome_type>(choose_.once_in(16) ? 7 : choose_.below(7));
    const std::size_t count =
        choose_.once_in(24) ? choose_.one_of(kAbsurdCounts) : choose_.one_of(kCounts);
    static constexpr std::array<std::size_t, 8> kElements = {4, 8, 8, 16, 4, 8, 1, 1};
    RandomCaller::Registered field;
    field.owner = &caller;
    field.role = role;
    field.kind = static_cast<RandomCaller::Kind>(choose_.below(3));
    const bool packed = field.kind == RandomCaller::Kind::kPacked;
    field.bytes =
        count <= 5000 ? count * (packed ? 1 : kElements[static_cast<std::size_t>(type)]) : 0;
    field.salt = caller.fields.size() + 1;
    field.values.resize(std::max<std::size_t>(field.bytes, 1));
    caller.fields.push_back(std::move(field));
    RandomCaller::Registered& there = caller.fields.back();
    anadrome_status status;
    if (packed) {
      const bool null = choose_.once_in(8);
      status =
          anadrome_add_packed(caller.run, name, role, count, null ? nullptr : pack, unpack, &there);
    } else if (there.kind == RandomCaller::Kind::kExchanged) {
      const bool null = choose_.once_in(8);
      status = anadrome_add_exchanged(caller.run, name, role, type, count,
                                      null ? nullptr : &there.number);
    } else {
      void* values = choose_.once_in(8) ? nullptr : there.values.data();
      status = anadrome_add_field(caller.run, name, role, type, values, count);
      if (values == nullptr && status == ANADROME_OK && count > 0) wrong_ = "NULL was taken";
    }
    if (note(status) != ANADROME_OK) caller.fields.pop_back();
  }

  void begin(RandomCaller& caller) {
    static constexpr std::array<std::int64_t, 10> kSteps = {
        7, 0, 1, 2, 3, 20, 60, 200, ANADROME_STEPS_UNKNOWN, ANADROME_STEPS_UNKNOWN};
    static constexpr std::array<std::int64_t, 5> kAbsurdSteps = {
        -2, std::numeric_limits<std::int64_t>::min(), kHuge, kHuge - 1, std::int64_t{1} << 40};
    const std::int64_t steps =
        choose_.once_in(12) ? choose_.one_of(kAbsurdSteps) : choose_.one_of(kSteps);
    caller.packing_fails = choose_.once_in(16);
    if (note(anadrome_begin(caller.run, steps)) != ANADROME_OK) return lose_track(caller);
    if (steps < ANADROME_STEPS_UNKNOWN) wrong_ = "begin took " + std::to_string(steps);
    ++counts_.begun;
    caller.begun(steps);
    caller.write_start();
    if (caller.packing_fails) caller.go_astray();  // what was not packed comes back as it is
    for (std::size_t more = choose_.below(4); more > 0; --more) go_on(caller);
  }

  // Some actions of the sweep, followed; now and then one is not.
  void go_on(RandomCaller& caller) {
    if (choose_.once_in(16)) note(anadrome_next(caller.run, nullptr));
    const std::size_t most = choose_.once_in(3) ? choose_.below(16) : 1500;
    for (std::size_t a = 0; a < most && wrong().empty(); ++a) {
      anadrome_action action;
      if (note(anadrome_next(caller.run, &action)) != ANADROME_OK) return lose_track(caller);
      if (a < 8 && choose_.once_in(64)) {
        caller.go_astray();
        continue;
      }
      const bool unknown = action.kind == ANADROME_ADVANCE && caller.steps() < 0;
      if (unknown && (a > 50 || choose_.once_in(16))) {
        const auto length = static_cast<std::uint64_t>(action.last - action.first);
        const auto part = static_cast<std::int64_t>(choose_.below(8) * (length / 7));
        if (note(caller.finish(action, action.first + part)) != ANADROME_OK) return;
        continue;
      }
      caller.follow(action);
      if (action.kind == ANADROME_DONE) {
        ++counts_.done;
        return;
      }
    }
  }

  // Calls that may come at any time and change nothing.
  void look(RandomCaller& caller) {
    anadrome_stats stats{};
    static constexpr std::array<std::size_t, 6> kSizes = {
        sizeof(anadrome_stats), 0, 1, 8, 100, std::numeric_limits<std::size_t>::max()};
    stats.size = choose_.one_of(kSizes);
    note(anadrome_statistics(caller.run, &stats));
    note(anadrome_statistics(caller.run, nullptr));
    static constexpr std::array<int, 6> kFields = {
        0, 1, -1, 1000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    const int field = choose_.one_of(kFields);
    anadrome_now(caller.run, field);
    anadrome_then(caller.run, field);
    anadrome_status_name(static_cast<anadrome_status>(choose_.below(16)));
  }

  void disturb(RandomCaller& caller) {
    static constexpr std::array<std::int64_t, 6> kNumbers = {
        0, 5, -1, std::numeric_limits<std::int64_t>::min(), kHuge, 1};
    static const std::array<double, 5> kSeconds = {1.0, 2.0, -1.0,
                                                   std::numeric_limits<double>::quiet_NaN(),
                                                   std::numeric_limits<double>::infinity()};
    switch (choose_.below(4)) {
      case 0:
        note(anadrome_fail(caller.run, choose_.once_in(2) ? nullptr : "two\nlines"));
        break;
      case 1:
        note(anadrome_request_stop(caller.run));
        break;
      case 2: {
        const anadrome_status status =
            anadrome_finish_forward(caller.run, choose_.one_of(kNumbers));
        if (note(status) == ANADROME_OK) lose_track(caller);
        break;
      }
      default: {
        const std::array<std::int64_t, 2> sizes = {choose_.one_of(kNumbers), 2};
        const int dimensions = static_cast<int>(choose_.below(4)) - 1;
        note(anadrome_set_shape(caller.run, choose_.once_in(8) ? "none" : "x", dimensions,
                                choose_.once_in(16) ? nullptr : sizes.data()));
        note(anadrome_set_tolerance(caller.run, choose_.once_in(8) ? nullptr : "x",
                                    choose_.one_of(kSeconds)));
        break;
      }
    }
  }

  void solve(RandomCaller& caller) {
    anadrome_model model{};
    static constexpr std::array<std::size_t, 4> kSizes = {sizeof(anadrome_model), 0, 8, 4096};
    model.size = choose_.one_of(kSizes);
    if (model.size > sizeof model) model.size = sizeof model;
    model.context = &caller;
    static const auto kFollow = [](void* context, anadrome_action_kind kind, std::int64_t first,
                                   std::int64_t last, int record) {
      anadrome_action action{};
      action.kind = kind;
      action.first = first;
      action.last = last;
      action.record = record;
      return static_cast<RandomCaller*>(context)->follow(action) ? 0 : 1;
    };
    model.advance = [](void* context, std::int64_t first, std::int64_t last, std::int64_t*) {
      return kFollow(context, ANADROME_ADVANCE, first, last, 0);
    };
    model.record = [](void* context, std::int64_t step, std::int64_t*) {
      return kFollow(context, ANADROME_ADVANCE, step, step + 1, 1);
    };
    model.turn = [](void* context, std::int64_t steps) {
      return kFollow(context, ANADROME_TURN, steps, steps, 0);
    };
    model.adjoint = [](void* context, std::int64_t step) {
      return kFollow(context, ANADROME_ADJOINT, step, step + 1, 0);
    };
    model.start = [](void* context) {
      return static_cast<RandomCaller*>(context)->write_start(), 0;
    };
    if (choose_.once_in(8)) model.adjoint = nullptr;
    if (choose_.once_in(8)) model.advance = nullptr;
    static constexpr std::array<std::int64_t, 6> kSteps = {
        5, 0, 40, -7, std::numeric_limits<std::int64_t>::min(), 1};
    const std::int64_t steps = choose_.one_of(kSteps);
    caller.packing_fails = false;
    caller.begun(steps);
    const bool null = choose_.once_in(16);
    if (note(anadrome_solve(caller.run, steps, null ? nullptr : &model)) != ANADROME_OK) {
      lose_track(caller);
    } else {
      ++counts_.done;
    }
  }

  Choices choose_;
  const std::string directory_;
  CallCounts& counts_;
  std::string wrong_;
  std::array<RandomCaller, 2> callers_;
};

// Runs the program of `seed`. Files are made in `directory`, which is empty again afterwards.
// Returns "" or what is wrong.
std::string play_calls(std::uint64_t seed, const std::string& directory, CallCounts& counts) {
  const std::string wrong = Sequence(seed, directory, counts).play();
  if (!wrong.empty()) return wrong;
  for (const auto& left : std::filesystem::directory_iterator(directory))
    return "left " + left.path().string();
  return "";
}

}  // namespace
}  // namespace anadrome::test

namespace {

// Absurd sizes must fail, and not take the machine's memory first.
void limit_memory() {
#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
  const rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
#endif
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  limit_memory();
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const bool verbose = argc > 3;
  std::string directory = "/tmp/api_calls.XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 2;
  anadrome::test::CallCounts counts;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    if (verbose) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    const std::string wrong = anadrome::test::play_calls(seed, directory, counts);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), wrong.c_str());
    ++failures;
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  std::printf("%lld calls, %lld refused, %lld sweeps begun, %lld done, %lld states right\n",
              static_cast<long long>(counts.calls), static_cast<long long>(counts.refused),
              static_cast<long long>(counts.begun), static_cast<long long>(counts.done),
              static_cast<long long>(counts.states_checked));
  // A driver that gets nowhere would find nothing.
  if (count >= 100 && (counts.done < static_cast<std::int64_t>(count) / 4 ||
                       counts.states_checked < 10 * static_cast<std::int64_t>(count))) {
    std::fprintf(stderr, "too little was done\n");
    ++failures;
  }
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
