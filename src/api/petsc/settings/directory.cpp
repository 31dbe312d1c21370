// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/settings/directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/words.h"
#include "store/files/file_system.h"

namespace anadrome::petsc {

using store::absolute_path;

namespace {

constexpr char kPrefix[] = "TS-";  // of the names of sweeps

std::string in_use(std::string value, const char* key, const char* by_default) {
  if (value.empty()) value = from_environment(key);
  return value.empty() ? std::string(by_default) : value;
}

std::string fixed(const std::string& directories) {
  const TwoWords paths = two_words(directories);
  const std::string home = with_commas_escaped(absolute_path(paths.last));
  return paths.are_two ? with_commas_escaped(absolute_path(paths.first)) + "," + home : home;
}

// Directories of sweeps whose process holds their lock no more.
int abandoned(const std::string& home) {
  int found = 0;
  std::error_code failed;
  std::filesystem::directory_iterator entry(home, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) continue;
    const int lock = ::open((entry->path() / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_SH | LOCK_NB) == 0) ++found;
    ::close(lock);
  }
  return found;
}

// Once in a process.
PetscErrorCode say_how_many_are_abandoned(const std::string& home) {
  static bool said = false;
  PetscFunctionBegin;
  if (std::exchange(said, true)) PetscFunctionReturn(PETSC_SUCCESS);
  const int found = abandoned(home);
  if (found == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "anadrome: %s has %d director%s %s* of programs that were aborted; "
                         "`anadrome clean %s` removes them\n",
                         home.c_str(), found, found == 1 ? "y" : "ies", kPrefix, home.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode Directory::choose(TSTrajectory tj, const Settings& settings) {
  const MPI_Comm comm = comm_of(tj);
  std::int64_t failed_and_number[2] = {0, 0};
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  const bool dirname = settings.value("directory").empty() && tj->dirname != nullptr;
  path_ = dirname ? with_commas_escaped(absolute_path(tj->dirname))
                  : fixed(in_use(settings.value("directory"), "directory", "."));
  if (rank == 0) {
    if (dirname) {
      if (::mkdir(tj->dirname, S_IRWXU | S_IRGRP | S_IXGRP) == 0) {
        made_ = absolute_path(tj->dirname);
      } else if (errno != EEXIST) {
        failed_and_number[0] = errno;
      }
    }
    const auto nanoseconds = static_cast<std::int64_t>(now_seconds() * 1e9);
    failed_and_number[1] =
        (static_cast<std::int64_t>(::getpid()) << 32) ^ (nanoseconds & 0xffffffff);
  }
  // After the directory was made, and no rank goes on if it was not.
  PetscCallMPI(MPI_Bcast(failed_and_number, 2, MPI_INT64_T, 0, comm));
  const auto [failed, number] = failed_and_number;
  PetscCheck(failed == 0, comm, PETSC_ERR_FILE_OPEN, "cannot make -ts_trajectory_dirname %s: %s",
             tj->dirname, errno_text(static_cast<int>(failed)).c_str());
  name_ = settings.value("name");
  if (settings.resumes() && settings.value_or_environment("name").empty()) name_ = "TS";
  if (!name_.empty() || !from_environment("name").empty()) PetscFunctionReturn(PETSC_SUCCESS);
  char text[32];
  if (rank == 0) PetscCall(say_how_many_are_abandoned(two_words(path_).last));
  PetscCall(
      PetscSNPrintf(text, sizeof text, "%s%llx", kPrefix, static_cast<unsigned long long>(number)));
  name_ = text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Directory::name_in_use() const { return in_use(name_, "name", "anadrome"); }

std::string Directory::beside() const { return two_words(path_).last + "/" + name_in_use(); }

PetscErrorCode Directory::require(MPI_Comm comm) const {
  const std::string home = two_words(path_).last;
  const char* const path = home.c_str();
  PetscFunctionBegin;
  const int local = ::access(path, W_OK | X_OK) == 0 ? 0 : errno;
  int failed = local;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(failed == 0, comm, PETSC_ERR_FILE_OPEN, "-ts_trajectory_anadrome_directory %s: %s",
             path, errno_text(failed).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Directory::leave() {
  if (!made_.empty()) ::rmdir(made_.c_str());
  made_.clear();
}

}  // namespace anadrome::petsc
