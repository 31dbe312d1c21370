// SPDX-License-Identifier: BSD-2-Clause
// A sweep that does not end as it should, by whosever fault, leaves nothing once its run is closed:
// no descriptor (files in memory are some), thread, file or lock. The next run is as the first.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include "mpi_main.h"
#include "own_loop.h"
#include "process_resources.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;

struct Trouble {
  const char* name;
  std::function<void(RunHandle&)> before_begin, at_action;
};

class NothingIsLeft : public ShortSweep {
 protected:
  // The trouble comes before begin, or at action number `at`; where it has neither, the run is
  // closed there.
  void live(const Trouble& trouble, std::int64_t at) {
    RunHandle run = prepared();
    run.set("watchdog", "1000");  // a thread on every rank, and their heartbeats
    if (trouble.before_begin) trouble.before_begin(run);
    model_.start();
    anadrome_action action{};
    anadrome_status status = anadrome_begin(run, kSteps);
    for (std::int64_t number = 0; status == ANADROME_OK && action.kind != ANADROME_DONE; ++number) {
      status = anadrome_next(run, &action);
      if (status == ANADROME_OK) take_steps(action, [&](std::int64_t k) { model_.step(k); });
      if (number != at || trouble.before_begin) continue;
      if (!trouble.at_action) break;
      trouble.at_action(run);
    }
    run.close();
  }

  void expect_nothing_left_by(const Trouble& trouble) {
    for (const std::int64_t at : {0, 4, 25}) {
      SCOPED_TRACE(trouble.name + (", action " + std::to_string(at)));
      const Resources before = Resources::now();
      live(trouble, at);
      allow(RLIMIT_NOFILE);
      allow(RLIMIT_FSIZE);
      const Resources after = Resources::now();
      EXPECT_EQ(after.descriptors, before.descriptors);
      EXPECT_EQ(after.threads, before.threads);
      expect_no_files();
      if (trouble.before_begin) break;
    }
    RunHandle run = prepared();
    expect_exact_sweep(run);
  }

  static void allow(decltype(RLIMIT_NOFILE) which, rlim_t most = RLIM_INFINITY) {
    struct rlimit limit {};
    ::getrlimit(which, &limit);
    limit.rlim_cur = std::min(most, limit.rlim_max);
    ::setrlimit(which, &limit);
  }
};

TEST_F(NothingIsLeft, ByAnyFault) {
  const auto setting = [](const char* key, const std::string& value) {
    return [=](RunHandle& run) { (void)anadrome_set(run, key, value.c_str()); };
  };
  {
    RunHandle first = prepared();  // what MPI and HDF5 make once
    expect_exact_sweep(first);
  }
  for (const Trouble& trouble :
       {Trouble{"an option that there is not", setting("colour", "red"), {}},
        {"one byte of memory", setting("memory", "1B"), {}},
        {"no such directory", setting("directory", directory() + "/no/such"), {}},
        {"a device for the report", setting("report", "/dev/null"), {}},
        {"no file may be long", [](RunHandle&) { allow(RLIMIT_FSIZE, 4096); }, {}},
        {"the run is closed", {}, {}},
        {"it begins anew",
         {},
         [this](RunHandle& run) {
           EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
           model_.start();
         }},
        {"the caller fails", {}, [](RunHandle& run) { anadrome_fail(run, "it must"); }},
        {"a stop is asked for", {}, [](RunHandle& run) { anadrome_request_stop(run); }},
        {"states come out otherwise", {}, [this](RunHandle&) { model_.start(); }},
        {"its directory is removed",
         {},
         [](RunHandle&) {
           if (rank() == 0) std::filesystem::remove_all(directory() + "/anadrome");
         }},
        {"a child asks for actions, and closes", {}, [](RunHandle& run) {
           const pid_t child = ::fork();
           if (child == 0) {
             anadrome_action action{};
             const bool refused = anadrome_next(run, &action) == ANADROME_ERR_ORDER;
             ::_exit(refused && run.close() == ANADROME_ERR_ORDER ? 0 : 1);
           }
           int status = -1;
           ::waitpid(child, &status, 0);
           EXPECT_EQ(status, 0);
         }}}) {
    expect_nothing_left_by(trouble);
  }
  for (int left = 0; left < 16; left += 3) {
    SCOPED_TRACE(left);
    expect_nothing_left_by({"few descriptors are left",
                            [left](RunHandle&) {
                              allow(RLIMIT_NOFILE,
                                    static_cast<rlim_t>(Resources::now().descriptors + left));
                            },
                            {}});
  }
}

}  // namespace
