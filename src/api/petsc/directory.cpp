// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"

namespace anadrome::petsc {

PetscErrorCode Directory::choose(TSTrajectory tj, const Settings& settings) {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(tj));
  std::int64_t failed_and_number[2] = {0, 0};
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  path_ = settings.value("directory");
  const bool dirname = path_.empty() && tj->dirname != nullptr;
  if (dirname) path_ = tj->dirname;
  if (rank == 0) {
    if (dirname) {
      if (::mkdir(tj->dirname, S_IRWXU | S_IRGRP | S_IXGRP) == 0) {
        made_ = tj->dirname;
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
  PetscCall(PetscSNPrintf(text, sizeof text, "TS-%llx", static_cast<unsigned long long>(number)));
  name_ = text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Directory::beside() const {
  const auto or_else = [](std::string first, const char* key, const char* last) {
    if (first.empty()) first = from_environment(key);
    return first.empty() ? std::string(last) : first;
  };
  const std::string directory = or_else(path_, "directory", ".");
  return std::filesystem::absolute(directory).string() + "/" + or_else(name_, "name", "anadrome");
}

PetscErrorCode Directory::require(MPI_Comm comm) const {
  const std::string given = path_.empty() ? from_environment("directory") : path_;
  const char* const path = given.empty() ? "." : given.c_str();
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
