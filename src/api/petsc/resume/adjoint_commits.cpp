// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/resume/adjoint_commits.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/error.h"

namespace anadrome::petsc {
namespace {

// Of all vectors, one after the other.
PetscErrorCode bytes_of(const TsParts& parts, Bytes* bytes) {
  std::size_t count = 0;
  PetscFunctionBegin;
  PetscCall(parts_bytes(parts, &count));
  bytes->resize(count);
  PetscCall(parts_to_bytes(parts, bytes->data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode AdjointCommits::start(MPI_Comm comm, const std::string& prefix, std::int64_t sweep,
                                     bool again) {
  PetscFunctionBegin;
  comm_ = comm;
  prefix_ = prefix;
  sweep_ = sweep;
  again_ = again;
  first_ = -1;
  solve_ = solves_before_ = 0;
  if (again) PetscCall(find_solves());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Body takes the solve of the sweep that a commit belongs to and the rest of it. What cannot be
// read is not there.
template <class Body>
void AdjointCommits::for_each(Body&& body) const {
  for (const std::int64_t number : {0, 1}) {
    if (::access(path(number).c_str(), R_OK) != 0) continue;
    (void)failure_from([&] {
      NotesFile file;
      for (const Entry& entry : file.open(path(number))) {
        Reading reading(entry.bytes);
        if (reading.get<std::int64_t>() == sweep_) body(reading.get<std::int64_t>(), reading);
      }
    });
  }
}

PetscErrorCode AdjointCommits::find_solves() {
  PetscFunctionBegin;
  for_each([&](std::int64_t solve, Reading&) { solves_before_ = std::max(solves_before_, solve); });
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &solves_before_, 1, MPI_INT64_T, MPI_MAX, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdjointCommits::begin(TS ts, PetscInt first, PetscInt* from) {
  Bytes seed;
  PetscFunctionBegin;
  *from = first;
  ++solve_;
  first_ = first;
  PetscCall(bytes_of(adjoint_parts(ts), &seed));
  ChecksumStream stream;
  stream.add(seed.data(), seed.size());
  if (!ts->costintegralfwd) PetscCall(add_integrand(ts, &stream));
  seed_ = stream.finish().low;
  std::vector<Commit> found;
  if (again_) {
    for_each([&](std::int64_t solve, Reading& reading) {
      const bool of_this = solve == solve_ && reading.get<PetscInt>() == first_ &&
                           reading.get<std::uint64_t>() == seed_;
      if (!of_this) return;
      Commit commit;
      commit.step = reading.get<PetscInt>();
      commit.number = reading.get<std::int64_t>();
      const std::span<const std::byte> rest = reading.take(reading.left());
      commit.bytes.assign(rest.begin(), rest.end());
      if (commit.bytes.size() == seed.size()) found.push_back(std::move(commit));
    });
  }
  // The newest that every rank has: of its two, a rank may have one that another has not.
  std::int64_t newest = first;
  for (const Commit& commit : found) newest = std::min<std::int64_t>(newest, commit.step);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &newest, 1, MPI_INT64_T, MPI_MAX, comm_));
  const auto chosen = std::find_if(
      found.begin(), found.end(), [newest](const Commit& commit) { return commit.step == newest; });
  int missing = chosen == found.end();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPI_INT, MPI_MAX, comm_));
  if (missing == 0) {
    found_ = std::move(*chosen);
    number_ = found_.number;
    *from = found_.step;
  }
  last_ = *from;
  last_at_ = now_seconds();
  next_ = *from - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdjointCommits::restore(TS ts) const {
  PetscFunctionBegin;
  PetscCall(parts_from_bytes(adjoint_parts(ts), found_.bytes.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The step of the next commit follows from what the steps since the last one took, on the slowest
// rank: nothing is agreed on between commits. A solve that an earlier process had behind it leaves
// the files to the one that it was in.
PetscErrorCode AdjointCommits::before_step(TS ts, PetscInt step) {
  PetscFunctionBegin;
  if (step > next_ || step == 0 || first_ < 0 || solve_ < solves_before_) {
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscInt steps = last_ - step;
  double took = now_seconds() - last_at_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, comm_));
  double more = 2.0 * static_cast<double>(steps);  // until one is due
  if (took * 2 >= interval_) {
    PetscCall(write(ts, step));
    const double due = took > 0 ? interval_ / took * static_cast<double>(steps) : 0;
    more = std::clamp(due, 1.0, more);
    last_at_ = now_seconds();
    last_ = step;
  }
  next_ = step - static_cast<PetscInt>(more);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A commit that cannot be written is one less to go on from.
PetscErrorCode AdjointCommits::write(TS ts, PetscInt step) {
  Bytes bytes, values;
  PetscFunctionBegin;
  PetscCall(bytes_of(adjoint_parts(ts), &values));
  put(bytes, sweep_);
  put(bytes, solve_);
  put(bytes, first_);
  put(bytes, seed_);
  put(bytes, step);
  put(bytes, ++number_);
  put(bytes, std::span<const std::byte>(values));
  (void)failure_from([&] {
    NotesFile file;
    file.create(path(number_));
    file.add(1, bytes);
    file.flush();
    file.sync();
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

void AdjointCommits::remove() {
  for (const std::int64_t number : {0, 1}) NotesFile::remove_at(path(number));
}

}  // namespace anadrome::petsc
