// SPDX-License-Identifier: BSD-2-Clause
// users_files TOOL COUNT [FIRST]
//
// COUNT random trees, from seed FIRST on: a user puts files with the names of a run's into its
// directory, also in the place of files of the run's that are moved away: before it begins, while
// it works, and after it was killed. The run begins, is killed, goes on, ends or keeps its files;
// TOOL, which is `anadrome`, cleans. Each time every file of the user's is there, the same byte by
// byte, with its mode and its links; a gradient that comes out is right, and nothing waits.
#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "modular_model.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;
using Random = std::mt19937_64;
using Options = std::vector<std::pair<std::string, std::string>>;

constexpr std::array kNames = {"lock",
                               "states.h5",
                               "journal-000000",
                               "journal-000001",
                               "journal-2025",
                               "adjoint-000007",
                               "segment-00000.h5",
                               "segment-00001.h5",
                               "segment-00009.h5",
                               "segment-copy.h5",
                               "segment-00000-rank-000000.h5",
                               "segment-copy-node-000000.h5",
                               "segment-left.h5",
                               "heartbeats-0af9",
                               "objects-rank-000000.h5",
                               "objects-rank-000003.h5",
                               "notes.txt"};

bool once_in(Random& random, std::uint64_t count) { return random() % count == 0; }

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A states.h5 of another program.
std::string bytes_of_hdf5(const fs::path& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(H5Gcreate2(file, "/states", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(file);
  return read(path);
}

// What others write: text, numbers, and HDF5 of somebody else's.
std::string bytes_of_a_user(Random& random, const std::string& hdf5) {
  const std::array<std::string, 4> kBegins = {"", "mine, and slot_step is in it",
                                              "\x89HDF\r\n\x1a\n", hdf5};
  std::string bytes = kBegins[random() % kBegins.size()];
  for (std::uint64_t left = 1 + random() % 3000; left > 0; --left)
    bytes += static_cast<char>(1 + random() % 255);
  return bytes;
}

// The files of the user, as they are to be found, in a run's two directories.
class UsersFiles {
 public:
  explicit UsersFiles(fs::path above)
      : above_(std::move(above)), hdf5_(bytes_of_hdf5(above_ / "plan")) {}

  void put_some(Random& random, std::uint64_t of_so_many) {
    for (const char* name : kNames)
      if (once_in(random, of_so_many)) put(random, directory_of(random) / name);
  }
  /// In the place of files of the run's that say so themselves: a lock speaks for the others.
  void replace_some(Random& random, std::uint64_t of_so_many) {
    std::vector<fs::path> paths;
    std::error_code none;
    for (const char* name : {"anadrome", "fast/anadrome"})
      for (const auto& entry : fs::directory_iterator(above_ / name, none))
        if (planted_.count(entry.path()) == 0) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      const std::string name = path.filename();
      const bool named = name.starts_with("adjoint-") || name.starts_with("heartbeats-");
      if (named || !once_in(random, of_so_many)) continue;
      fs::rename(path, above_ / ("moved-" + std::to_string(planted_.size())));
      put(random, path);
    }
  }
  /// One that is not there any more, or holds something else; "": all are as they were.
  std::string lost() const {
    for (const auto& [path, identity] : planted_)
      if (identity_of(path) != identity) return path;
    for (const auto& [path, bytes] : files_)
      if (!fs::exists(path) || read(path) != bytes) return path;
    return "";
  }

 private:
  fs::path directory_of(Random& random) const {
    return once_in(random, 4) ? above_ / "fast/anadrome" : above_ / "anadrome";
  }

  using Identity = std::array<std::uint64_t, 3>;
  static Identity identity_of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return {};
    return {status.st_ino, status.st_mode, status.st_nlink};
  }

  // Nothing that is there is written over.
  void put(Random& random, const fs::path& path) {
    if (fs::exists(fs::symlink_status(path))) return;
    fs::create_directories(path.parent_path());
    put_something(random, path);
    planted_[path] = identity_of(path);
  }

  void put_something(Random& random, const fs::path& path) {
    const std::string bytes = bytes_of_a_user(random, hdf5_);
    const fs::path elsewhere = above_ / ("elsewhere-" + std::to_string(files_.size()));
    switch (random() % 10) {
      case 0:
        fs::create_directory(path);
        return write(path / "inside", bytes);
      case 1:
        write(elsewhere, bytes);
        return fs::create_symlink(elsewhere, path);
      case 2:
        write(elsewhere, bytes);
        fs::create_hard_link(elsewhere, path);
        files_[path] = bytes;
        return;
      case 3:
      case 4:
        // Only root makes a device: /dev/null, which takes whatever is written.
        ::mknod(path.c_str(),
                std::array<mode_t, 3>{S_IFIFO, S_IFSOCK, S_IFCHR}[random() % 3] | 0600U,
                ::makedev(1, 3));
        return;
      default:
        write(path, bytes);
    }
  }

  void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    files_[path] = bytes;
  }

  const fs::path above_;
  const std::string hdf5_;
  std::map<fs::path, std::string> files_;
  std::map<fs::path, Identity> planted_;
};

constexpr std::int64_t kSteps = 40;
constexpr int kWrong = 7;

struct Life {
  Options options;
  std::int64_t stops_at = 0, dies_at = 0;  ///< the action; 0: none
  bool has_store = false;                  ///< and no sweep
};

void stop_or_die(const Life& life, std::int64_t number) {
  if (number == life.stops_at) ::raise(SIGSTOP);
  if (number == life.dies_at) ::raise(SIGKILL);
}

// 0: it did all. 1: the library refused.
int live(const Life& life) {
  ModularModel model(MPI_COMM_SELF, {.words = 300, .adjoint_fields = true});
  const std::uint64_t right = model.gradient_with_every_state_kept(kSteps);
  anadrome_run* run = nullptr;
  anadrome_open(MPI_COMM_SELF, &run);
  for (const auto& [key, value] : life.options) anadrome_set(run, key.c_str(), value.c_str());
  model.add_fields(run);
  std::int64_t number = 0;
  model.before_action = [&](const anadrome_action&) { stop_or_die(life, ++number); };
  const SweepResult result = sweep(run, model, kSteps, false);
  if (result.done && result.gradient != right) return kWrong;
  return anadrome_close(&run) == ANADROME_OK && result.done ? 0 : 1;
}

// The same with an object store.
int store_objects(const Life& life) {
  constexpr std::int64_t kObjects = 3 * kSteps;
  std::string options = "name=anadrome memory=1MiB";
  for (const auto& [key, value] : life.options)
    if (key == "directory" || key == "keep") options.append(" " + key + "=" + value);
  anadrome_store* store = nullptr;
  anadrome_status status = anadrome_store_open(MPI_COMM_SELF, options.c_str(), &store);
  if (status != ANADROME_OK) return 1;
  std::vector<double> values(6000);
  const anadrome_part part = {"u", ANADROME_FLOAT64, values.size(), values.data()};
  for (std::int64_t key = 1; key <= kObjects && status == ANADROME_OK; ++key) {
    values.assign(values.size(), static_cast<double>(key));
    status = anadrome_store_put(store, key, 1, &part);
    stop_or_die(life, key);
  }
  for (std::int64_t key = 1; key <= kObjects && status == ANADROME_OK; ++key) {
    status = anadrome_store_get(store, key, 1, &part);
    if (status == ANADROME_OK && values.back() != static_cast<double>(key)) return kWrong;
  }
  const anadrome_status closed = anadrome_store_close(&store);
  return status == ANADROME_OK && closed == ANADROME_OK ? 0 : 1;
}

// The exit code; 128 and more: a signal ended it. While it stands still, `meanwhile` is done.
template <class Body, class Meanwhile>
int in_child(Body&& body, Meanwhile&& meanwhile) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);  // seconds: it hangs
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::_exit(body());
  }
  for (;;) {
    int status = 0;
    ::waitpid(child, &status, WUNTRACED);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    meanwhile();
    ::kill(child, SIGCONT);
  }
}

Options options_of(Random& random, const fs::path& above) {
  constexpr std::array kLayouts = {"shared", "node", "rank"};
  const bool two = once_in(random, 4), resumes = !once_in(random, 4);
  Options options = {{"directory", (two ? above.string() + "/fast," : "") + above.string()},
                     {"layout", kLayouts[random() % kLayouts.size()]},
                     {"schedule", "async"},
                     {"interval", "1"},
                     {"memory", "40KiB"},
                     {"watchdog", once_in(random, 2) ? "1000" : "0"},
                     {"checkpoint_interval", "0"}};
  if (resumes) options.push_back({"resume", "on"});
  if (!resumes) options.push_back({"keep", once_in(random, 2) ? "on" : "off"});
  return options;
}

struct Tally {
  std::int64_t done = 0, refused = 0, killed = 0, cleaned = 0;
};

// What went wrong; "": nothing.
std::string play(std::uint64_t seed, const fs::path& above, const char* tool, Tally& tally) {
  constexpr std::uint64_t kSeldom = 100, kOften = 40, kActions = 3 * kSteps;
  Random random(seed);
  fs::create_directories(above / "fast");
  UsersFiles users(above);
  Life life{options_of(random, above)};
  life.has_store = once_in(random, 5);
  for (int number = 0; number < 3; ++number) {
    users.put_some(random, kSeldom);
    users.replace_some(random, kSeldom);
    life.stops_at = static_cast<std::int64_t>(1 + random() % kActions);
    life.dies_at = number < 2 ? static_cast<std::int64_t>(1 + random() % kActions) : 0;
    const int code = in_child([&] { return life.has_store ? store_objects(life) : live(life); },
                              [&] {
                                users.put_some(random, kOften);
                                users.replace_some(random, kOften / 4);
                              });
    tally.done += code == 0 ? 1 : 0;
    tally.refused += code == 1 ? 1 : 0;
    tally.killed += code == 128 + SIGKILL ? 1 : 0;
    if (code > 1 && code != 128 + SIGKILL) return "a life ended with " + std::to_string(code);
    if (const std::string lost = users.lost(); !lost.empty()) return lost + " after a life";
  }
  const char* const flag = once_in(random, 2) ? "--kept" : "--stopped";
  for (const fs::path& where : {above, above / "fast"}) {
    const auto clean = [&] { return ::execl(tool, tool, "clean", flag, where.c_str(), nullptr); };
    tally.cleaned += in_child(clean, [] {}) == 0 ? 1 : 0;
  }
  const std::string lost = users.lost();
  return lost.empty() ? "" : lost + " after clean " + flag;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  std::string home = "/tmp/users_files.XXXXXX";
  if (::mkdtemp(home.data()) == nullptr) return 2;
  Tally tally;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const fs::path above = fs::path(home) / "tree";
    const std::string wrong = play(seed, above, argv[1], tally);
    if (!wrong.empty()) ++failures, std::fprintf(stderr, "seed %zu: %s\n", seed, wrong.c_str());
    fs::remove_all(above);
  }
  fs::remove_all(home);
  std::printf("%zu trees: %zd lives to their end, %zd refused, %zd killed, %zd times cleaned\n",
              count, tally.done, tally.refused, tally.killed, tally.cleaned);
  // A test that gets nowhere would lose nothing.
  const auto trees = static_cast<std::int64_t>(count);
  if (tally.done < trees / 6 || tally.killed < trees / 4 || tally.cleaned < trees / 4) ++failures;
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
