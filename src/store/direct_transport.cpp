// The asynchronous data path: pread and pwrite at byte offsets of the HDF5 file, on a thread of its
// own.
#include <fcntl.h>

#include <algorithm>

#include "base/clock.h"
#include "store/transport.h"

namespace anadrome::store {
namespace {

class DirectTransport final : public Transport {
 public:
  DirectTransport(const BlockLayout& layout, const TransportOptions& options)
      : layout_(layout), options_(options), thread_([this](std::stop_token stop) { serve(stop); }) {
    pthread_setname_np(thread_.native_handle(), "anadrome-io");
  }

  ~DirectTransport() override {
    thread_.request_stop();
    thread_.join();
  }

  bool overlaps() const override { return true; }

  void start(Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    transfer.done = false;
    transfer.failure = {};
    (transfer.write ? writes_ : reads_).push_back(&transfer);
    work_.notify_one();
  }

  double wait(const Transfer& transfer) override {
    std::unique_lock lock(mutex_);
    if (transfer.done) return 0;
    const double start = now_seconds();
    finished_.wait(lock, [&] { return transfer.done; });
    return now_seconds() - start;
  }

  bool done(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    return transfer.done;
  }

  bool cancel(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    std::deque<Transfer*>& queue = transfer.write ? writes_ : reads_;
    return std::erase(queue, &transfer) > 0;
  }

  TransferTotals totals() const override {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, stop, [&] { return !reads_.empty() || !writes_.empty(); });
      if (reads_.empty() && writes_.empty()) return;  // stopped, and nothing is left to do
      // The solver waits for reads sooner than for writes.
      std::deque<Transfer*>& queue = reads_.empty() ? writes_ : reads_;
      Transfer& transfer = *queue.front();
      queue.pop_front();
      lock.unlock();
      TransferTotals added;
      Checksum checksum;
      double seconds = 0;
      const double started = now_seconds();
      Failure failure = carry_out(transfer, checksum, seconds, added);
      const double ended = now_seconds();
      lock.lock();
      transfer.started = started;
      transfer.ended = ended;
      if (transfer.write) transfer.checksum = checksum;
      transfer.seconds = seconds;
      transfer.failure = std::move(failure);
      transfer.done = true;
      totals_.bytes_written += added.bytes_written;
      totals_.bytes_read += added.bytes_read;
      totals_.seconds_writing += added.seconds_writing;
      totals_.seconds_reading += added.seconds_reading;
      totals_.seconds_checksums += added.seconds_checksums;
      finished_.notify_all();
    }
  }

  Failure carry_out(const Transfer& transfer, Checksum& checksum, double& seconds,
                    TransferTotals& added) const noexcept {
    try {
      if (transfer.write && options_.checksum) {
        const AddTime time(added.seconds_checksums);
        checksum = checksum_of(layout_, transfer.identity, transfer.bytes);
      }
      {
        const AddTime time(seconds);
        move_bytes(transfer, added);
      }
      (transfer.write ? added.seconds_writing : added.seconds_reading) += seconds;
      if (!transfer.write && options_.checksum) {
        const AddTime time(added.seconds_checksums);
        return verify(layout_, transfer);
      }
      return {};
    } catch (...) {
      return current_failure();
    }
  }

  void move_bytes(const Transfer& transfer, TransferTotals& added) const {
    const File& file = transfer.segment->file();
    for (std::size_t f = 0; f < layout_.parts().size(); ++f) {
      // A partly filled block moves only the pages in use.
      const BlockLayout::Part& part = layout_.parts()[f];
      const std::int64_t in_use = part.stride * transfer.identity.states;
      const std::int64_t length =
          std::min((in_use + kPage - 1) / kPage * kPage, layout_.part_bytes(f));
      const std::int64_t offset = transfer.segment->byte_of(transfer.identity.block, f);
      move_part(transfer, file, transfer.bytes + part.offset, length, offset, added);
    }
  }

  void move_part(const Transfer& transfer, const File& file, std::byte* bytes, std::int64_t length,
                 std::int64_t offset, TransferTotals& added) const {
    std::int64_t call_bytes = std::int64_t{8} << 20;
    if (options_.bytes_per_second > 0) {  // small enough calls for the limit to be even
      const std::int64_t even = options_.bytes_per_second / 50 / kPage * kPage;
      call_bytes = std::clamp(even, kPage, call_bytes);
    }
    for (std::int64_t at = 0; at < length;) {
      const std::int64_t count = std::min(call_bytes, length - at);
      const double start = now_seconds();
      if (transfer.write) {
        file.write_all(bytes + at, static_cast<std::size_t>(count), offset + at);
        added.bytes_written += count;
      } else {
        file.read_all(bytes + at, static_cast<std::size_t>(count), offset + at);
        added.bytes_read += count;
      }
      if (options_.bytes_per_second > 0) {
        const double due =
            static_cast<double>(count) / static_cast<double>(options_.bytes_per_second);
        const double rest = start + due - now_seconds();
        if (rest > 0) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
      }
      at += count;
    }
    // Buffered: start the writeback now, and do not fill the page cache with states read once.
    if (transfer.segment->direct()) return;
    if (transfer.write) {
      ::sync_file_range(file.get(), offset, length, SYNC_FILE_RANGE_WRITE);
    } else {
      ::posix_fadvise(file.get(), offset, length, POSIX_FADV_DONTNEED);
    }
  }

  const BlockLayout layout_;
  const TransportOptions options_;
  mutable std::mutex
      mutex_;  // guards the queues, the totals, and the second half of queued transfers
  std::condition_variable_any work_;
  std::condition_variable finished_;
  std::deque<Transfer*> reads_, writes_;
  TransferTotals totals_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Transport> make_direct_transport(const BlockLayout& layout,
                                                 const TransportOptions& options) {
  return std::make_unique<DirectTransport>(layout, options);
}

}  // namespace anadrome::store
