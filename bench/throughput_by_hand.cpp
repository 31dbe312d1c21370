// SPDX-License-Identifier: BSD-2-Clause
#include "throughput_by_hand.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {
namespace {

constexpr std::int64_t kPage = 4096, kHugePage = std::int64_t{2} << 20;
constexpr std::int64_t kCallBytes = std::int64_t{8} << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

Memory touched(std::int64_t bytes) {
  const auto length = static_cast<std::size_t>(round_up(bytes, kHugePage));
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kHugePage, length)));
  if (!memory) throw std::runtime_error("no memory for the states");
  ::madvise(memory.get(), length, MADV_HUGEPAGE);
  std::memset(memory.get(), 1, length);
  return memory;
}

}  // namespace

// State k has block k % blocks. Calls are taken in order by two threads; with many states in
// memory one is copied while others move.
class StoreByHand::Disk {
 public:
  Disk(const std::string& directory, std::int64_t state_bytes, std::int64_t steps,
       std::int64_t memory)
      : state_bytes_(state_bytes),
        stride_(round_up(state_bytes, kPage)),
        steps_(steps),
        blocks_(std::max<std::int64_t>(memory / stride_, 2)),
        memory_(touched(blocks_ * stride_)),
        left_(static_cast<std::size_t>(blocks_)) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path_ = directory + "/by_hand." + std::to_string(rank);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
    if (descriptor_ < 0) throw std::runtime_error(path_ + ": " + std::strerror(errno));
    for (std::jthread& thread : threads_)
      thread = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() {
    threads_ = {};
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  anadrome_stats sweep(std::byte* state) {
    const auto bytes = static_cast<std::size_t>(state_bytes_);
    seconds_ = {};
    anadrome_stats stats{};
    stats.state_bytes = state_bytes_;
    stats.steps = steps_;
    stats.states_per_write = 1;
    stats.direct_io = 1;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    stats.ranks = ranks;
    const double start = MPI_Wtime();
    for (std::int64_t k = 0; k < steps_; ++k) {
      stats.seconds_stalled_write += wait(k);
      std::memcpy(block(k), state, bytes);
      if (k < steps_ - blocks_) begin(true, k);
    }
    stats.seconds_forward = MPI_Wtime() - start;
    for (std::int64_t k = steps_ - 1; k >= 0; --k) {
      stats.seconds_stalled_read += wait(k);
      std::memcpy(state, block(k), bytes);
      if (k >= blocks_) begin(false, k - blocks_);
    }
    stats.seconds_total = MPI_Wtime() - start;
    stats.seconds_adjoint = stats.seconds_total - stats.seconds_forward;
    stats.bytes_written = stats.bytes_read = std::max<std::int64_t>(steps_ - blocks_, 0) * stride_;
    stats.seconds_writing = seconds_[1] / static_cast<double>(threads_.size());
    stats.seconds_reading = seconds_[0] / static_cast<double>(threads_.size());
    return stats;
  }

 private:
  struct Call {
    bool write;
    std::int64_t block;
    std::byte* bytes;
    std::int64_t count, offset;
  };

  std::byte* block(std::int64_t k) { return memory_.get() + k % blocks_ * stride_; }
  std::int64_t& left(std::int64_t k) { return left_[static_cast<std::size_t>(k % blocks_)]; }

  void begin(bool write, std::int64_t k) {
    const std::lock_guard lock(mutex_);
    for (std::int64_t at = 0; at < stride_; at += kCallBytes) {
      calls_.push_back({write, k % blocks_, block(k) + at, std::min(kCallBytes, stride_ - at),
                        k * stride_ + at});
      ++left(k);
    }
    work_.notify_all();
  }
  double wait(std::int64_t k) {
    std::unique_lock lock(mutex_);
    if (left(k) == 0) return 0;
    const double start = MPI_Wtime();
    finished_.wait(lock, [&] { return left(k) == 0; });
    return MPI_Wtime() - start;
  }
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (work_.wait(lock, stop, [&] { return !calls_.empty(); })) {
      const Call call = calls_.front();
      calls_.pop_front();
      lock.unlock();
      const double start = MPI_Wtime();
      const auto count = static_cast<std::size_t>(call.count);
      const ssize_t moved = call.write ? ::pwrite(descriptor_, call.bytes, count, call.offset)
                                       : ::pread(descriptor_, call.bytes, count, call.offset);
      const double seconds = MPI_Wtime() - start;
      if (moved != call.count) std::abort();  // a full disk: nothing was measured
      lock.lock();
      seconds_[call.write ? 1 : 0] += seconds;
      if (--left(call.block) == 0) finished_.notify_all();
    }
  }

  const std::int64_t state_bytes_, stride_, steps_, blocks_;
  Memory memory_;
  std::string path_;
  int descriptor_ = -1;
  std::mutex mutex_;
  std::condition_variable_any work_, finished_;
  std::deque<Call> calls_;
  std::vector<std::int64_t> left_;  ///< calls of each block
  std::array<double, 2> seconds_ = {};
  std::array<std::jthread, 2> threads_;
};

StoreByHand::StoreByHand(const std::string& directory, std::int64_t state_bytes, std::int64_t steps,
                         std::int64_t memory)
    : disk_(std::make_unique<Disk>(directory, state_bytes, steps, memory)) {}

StoreByHand::~StoreByHand() = default;

anadrome_stats StoreByHand::sweep(std::byte* state) { return disk_->sweep(state); }

double copy_rate(std::int64_t bytes) {
  constexpr std::int64_t kInAll = std::int64_t{256} << 20;
  bytes = std::max<std::int64_t>(bytes, std::int64_t{1} << 20);
  const std::int64_t times = std::max<std::int64_t>(kInAll / bytes, 2);
  const Memory from = touched(bytes), to = touched(times * bytes);
  const double start = MPI_Wtime();
  for (std::int64_t i = 0; i < times; ++i) {
    std::memcpy(to.get() + i * bytes, from.get(), static_cast<std::size_t>(bytes));
  }
  return static_cast<double>(times * bytes) / (MPI_Wtime() - start);
}

}  // namespace bench
