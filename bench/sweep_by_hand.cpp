// SPDX-License-Identifier: BSD-2-Clause
// The sweeps without the library.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "sweep_modes.h"

namespace bench {
namespace {

constexpr std::size_t kAlignment = std::size_t{2} << 20;

struct FreeMemory {
  void operator()(double* memory) const { std::free(memory); }
};
using States = std::unique_ptr<double, FreeMemory>;

// Touched, and in huge pages where there are any, as the library's pool is.
States allocate(std::size_t bytes) {
  const std::size_t length = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  States memory(static_cast<double*>(std::aligned_alloc(kAlignment, length)));
  if (!memory) throw std::runtime_error("no memory for the states");
  ::madvise(memory.get(), length, MADV_HUGEPAGE);
  std::memset(memory.get(), 0, length);
  return memory;
}

class ScratchFile {
 public:
  ScratchFile(const Means& means, std::int64_t steps, int rank)
      : path_(means.directory + "/by_hand." + std::to_string(steps) + "." + std::to_string(rank)),
        bytes_per_second_(means.bytes_per_second) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
    if (descriptor_ < 0) fail();
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  void write(const void* bytes, std::size_t length, std::int64_t offset) const {
    move(length, [&](std::size_t at, std::size_t count) {
      return ::pwrite(descriptor_, static_cast<const char*>(bytes) + at, count,
                      offset + static_cast<off_t>(at));
    });
  }
  void read(void* bytes, std::size_t length, std::int64_t offset) const {
    move(length, [&](std::size_t at, std::size_t count) {
      return ::pread(descriptor_, static_cast<char*>(bytes) + at, count,
                     offset + static_cast<off_t>(at));
    });
  }

 private:
  template <class Call>
  void move(std::size_t length, const Call& call) const {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < length;) {
      const ssize_t moved = call(at, length - at);
      if (moved <= 0) fail();
      at += static_cast<std::size_t>(moved);
    }
    if (bytes_per_second_ == 0) return;
    const double due = static_cast<double>(length) / static_cast<double>(bytes_per_second_);
    std::this_thread::sleep_until(start + std::chrono::duration<double>(due));
  }
  [[noreturn]] void fail() const { throw std::runtime_error(path_ + ": " + std::strerror(errno)); }

  std::string path_;
  std::int64_t bytes_per_second_ = 0;
  int descriptor_ = -1;
};

class HandWritten {
 public:
  HandWritten(Problem& problem, const Means& means)
      : problem_(problem), file_(means, problem.steps, problem.model->grid.rank) {
    constexpr std::size_t kPage = 4096;
    bytes_ = (problem.start.size() * sizeof(double) + kPage - 1) / kPage * kPage;
    interval_ = std::max<std::int64_t>(1, means.memory / static_cast<std::int64_t>(bytes_));
    MPI_Allreduce(MPI_IN_PLACE, &interval_, 1, MPI_INT64_T, MPI_MIN, problem.model->grid.comm);
    memory_ = allocate(bytes_ * static_cast<std::size_t>(interval_));
  }

  Measured sweep() {
    Measured measured;
    anadrome_stats& stats = measured.stats;
    stats = {};
    stats.slots = stats.checkpoint_slots = stats.interval = interval_;
    const double start = MPI_Wtime();
    const std::int64_t last_anchor = (problem_.steps - 1) / interval_ * interval_;
    std::copy(problem_.start.begin(), problem_.start.end(), slot(0));
    for (std::int64_t k = 0; k < last_anchor; ++k) {
      if (k % interval_ == 0) {
        const double before = MPI_Wtime();
        file_.write(slot(0), bytes_, k / interval_ * static_cast<std::int64_t>(bytes_));
        stats.seconds_writing += MPI_Wtime() - before;
        stats.bytes_written += static_cast<std::int64_t>(bytes_);
        ++stats.anchors;
      }
      heat_step(problem_.model, k, slot(0), slot(0), nullptr);
    }
    double* end = problem_.model->u;
    forward(last_anchor, problem_.steps - 1);
    heat_step(problem_.model, problem_.steps - 1, slot(problem_.steps - 1), end, nullptr);
    measured.seconds_forward = MPI_Wtime() - start;
    heat_turn(problem_.model, end);
    stats.forward_steps_taken = problem_.steps;
    for (std::int64_t k = problem_.steps - 1; k >= 0; --k) {
      if (k < last_anchor && (k + 1) % interval_ == 0) {
        const std::int64_t anchor = k / interval_ * interval_;
        const double before = MPI_Wtime();
        file_.read(slot(0), bytes_, anchor / interval_ * static_cast<std::int64_t>(bytes_));
        stats.seconds_reading += MPI_Wtime() - before;
        stats.bytes_read += static_cast<std::int64_t>(bytes_);
        forward(anchor, k);
        stats.forward_steps_taken += k - anchor;
      }
      heat_adjoint_step(problem_.model, k, slot(k), nullptr);
    }
    measured.seconds_total = MPI_Wtime() - start;
    stats.seconds_stalled_write = stats.seconds_writing;
    stats.seconds_stalled_read = stats.seconds_reading;
    return measured;
  }

 private:
  double* slot(std::int64_t k) {
    return memory_.get() + static_cast<std::size_t>(k % interval_) * (bytes_ / sizeof(double));
  }
  // From x_first in its slot, x_first+1 .. x_last into theirs.
  void forward(std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k)
      heat_step(problem_.model, k, slot(k), slot(k + 1), nullptr);
  }

  Problem& problem_;
  ScratchFile file_;
  std::size_t bytes_ = 0;
  std::int64_t interval_ = 1;
  States memory_;
};

}  // namespace

Sweep ideal_sweep(Problem& problem) {
  const std::size_t cells = problem.start.size();
  const auto steps = static_cast<std::size_t>(problem.steps);
  const std::shared_ptr<double> states = allocate((steps + 1) * cells * sizeof(double));
  return [&problem, states, cells] {
    Measured measured;
    const auto state = [&](std::int64_t k) {
      return states.get() + static_cast<std::size_t>(k) * cells;
    };
    const double start = MPI_Wtime();
    std::copy(problem.start.begin(), problem.start.end(), state(0));
    for (std::int64_t k = 0; k < problem.steps; ++k)
      heat_step(problem.model, k, state(k), state(k + 1), nullptr);
    measured.seconds_forward = MPI_Wtime() - start;
    heat_turn(problem.model, state(problem.steps));
    for (std::int64_t k = problem.steps - 1; k >= 0; --k)
      heat_adjoint_step(problem.model, k, state(k), nullptr);
    measured.seconds_total = MPI_Wtime() - start;
    measured.stats.forward_steps_taken = problem.steps;
    return measured;
  };
}

Sweep hand_written_sweep(Problem& problem, const Means& means) {
  const auto hand_written = std::make_shared<HandWritten>(problem, means);
  return [hand_written] { return hand_written->sweep(); };
}

}  // namespace bench
