// SPDX-License-Identifier: BSD-2-Clause
// The asynchronous data path: pread and pwrite at byte offsets of the HDF5 file, on a thread of its
// own.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/index.h"
#include "base/platform/platform.h"
#include "base/thread.h"
#include "store/moving/codec_choice.h"
#include "store/moving/transport.h"

namespace anadrome::store {
namespace {

class DirectTransport final : public Transport {
 public:
  DirectTransport(const BlockLayout& layout, const TransportOptions& options)
      : layout_(layout),
        options_(options),
        encoder_(options.encoding ? std::make_unique<Encoder>(layout, options) : nullptr),
        thread_(start_thread(
            "anadrome-io",
            "writes and reads states (schedules in memory alone, as revolve, need none)",
            [this](const std::stop_token& stop) { serve(stop); })) {}

  ~DirectTransport() override {
    thread_.request_stop();
    thread_.join();
  }

  bool overlaps() const override { return true; }
  bool is_lossy() const override {
    return options_.encoding && store::is_lossy(options_.encoding->codecs);
  }

  void start(Transfer& transfer) override {
    {
      const std::lock_guard lock(mutex_);
      // First: what is not queued is never done.
      std::deque<Transfer*>& queue = queue_of(transfer);
      auto at = queue.end();
      if (transfer.urgent) {
        at = std::find_if(queue.begin(), queue.end(),
                          [](const Transfer* queued) { return !queued->urgent; });
      }
      queue.insert(at, &transfer);
      transfer.done = false;
      transfer.failure = {};
    }
    work_.notify_one();  // not under the mutex, which the thread takes first
  }

  double wait(const Transfer& transfer) override {
    std::unique_lock lock(mutex_);
    if (transfer.done) return 0;
    const double start = now_seconds();
    const auto done = [&] { return transfer.done; };
    const std::chrono::duration<double> patience(options_.patience);
    if (options_.late && !finished_.wait_for(lock, patience, done)) {
      lock.unlock();
      options_.late(transfer.write);
      lock.lock();
    }
    finished_.wait(lock, done);
    return now_seconds() - start;
  }

  bool done(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    return transfer.done;
  }

  bool cancel(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    return std::erase(queue_of(transfer), &transfer) > 0;
  }

  TransferTotals totals() const override {
    const std::lock_guard lock(mutex_);
    return totals_;
  }

  std::vector<FinishedWrite> take_finished_writes() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_writes_, {});
  }

 private:
  std::deque<Transfer*>& queue_of(const Transfer& transfer) {
    return transfer.write || transfer.task ? writes_ : reads_;
  }

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
      Moved moved;
      Failure failure = transfer.ready.wait();
      const double started = now_seconds(), processor = thread_seconds();
      if (!failure)
        failure = transfer.task ? failure_from(transfer.task) : carry_out(transfer, moved, added);
      if (transfer.write && options_.remember_writes) {
        const std::lock_guard remembering(mutex_);
        // A write that is not remembered counts as one that never was.
        static_cast<void>(failure_from([&] {
          finished_writes_.push_back({transfer.segment, transfer.place, transfer.is_copy,
                                      transfer.identity, moved.checksum, moved.encoded, failure});
        }));
      }
      const double ended = now_seconds(), computed = thread_seconds() - processor;
      if (encoder_ != nullptr && transfer.write && !transfer.exact && !failure)
        encoder_->choice.note(ended - started, computed, added.bytes_encoded);
      if (!transfer.task && transfer.change == 0) {
        (transfer.write ? added.seconds_writing : added.seconds_reading) += ended - started;
      }
      lock.lock();
      transfer.started = started;
      transfer.ended = ended;
      transfer.processor_seconds = computed;
      if (transfer.write) {
        transfer.checksum = moved.checksum;
        transfer.encoded = std::move(moved.encoded);
      }
      transfer.seconds = ended - started;
      transfer.failure = std::move(failure);
      transfer.done = true;
      totals_ += added;
      finished_.notify_all();
    }
  }

  // The facts of a write that a later read needs.
  struct Moved {
    Checksum checksum;
    EncodedBlock encoded;
  };

  Failure carry_out(const Transfer& transfer, Moved& moved, TransferTotals& added) noexcept {
    try {
      if (transfer.change > 0) return change(transfer);
      BlockChecksum sum(layout_, transfer);
      moved.encoded.exact = transfer.exact || !is_lossy();
      const std::optional<CodecName> codec = codec_of(transfer);
      std::span<const std::int64_t> pieces = transfer.encoded.pieces;  // of the fields that follow
      const bool encoded = transfer.write ? codec.has_value() : !pieces.empty();
      for (std::size_t f = 0; f < layout_.parts().size(); ++f) {
        if (!encoded) {
          if (encoder_ != nullptr && transfer.write)
            added.bytes_encoded += static_cast<std::int64_t>(numbers_of(transfer, f).size());
          move_part(transfer, f, sum, added);
        } else if (transfer.write) {
          encode_part(transfer, *codec, f, moved.encoded.pieces, sum, added);
        } else {
          decode_part(transfer, f, pieces, sum, added);
        }
      }
      moved.checksum = sum.finish();
      return transfer.write ? Failure{} : compare(transfer, moved.checksum);
    } catch (const Error& error) {
      if (error.status() != ANADROME_ERR_CORRUPT) return current_failure();
      Failure damaged(error);
      static_cast<void>(
          failure_from([&] { damaged = not_what_was_written(transfer, error.what()); }));
      return damaged;
    } catch (...) {
      return current_failure();
    }
  }

  // The sum covers the encoded bytes.
  class Encoded final : public EncodedPart::Observer {
   public:
    Encoded(const TransportOptions& options, BlockChecksum& sum, std::int64_t& bytes,
            double& seconds)
        : options_(options), sum_(sum), bytes_(bytes), seconds_(seconds) {}
    void see(std::span<const std::byte> bytes) override {
      const AddTime time(seconds_);
      sum_.add(bytes);
    }
    void moved(std::int64_t bytes) override {
      bytes_ += bytes;
      keep_to_limit(options_, began_, moved_ += bytes);
    }

   private:
    const TransportOptions& options_;
    BlockChecksum& sum_;
    std::int64_t& bytes_;
    double& seconds_;
    const double began_ = now_seconds();
    std::int64_t moved_ = 0;
  };

  EncodedPart::Place place_of(const Transfer& transfer, std::size_t field) const {
    const Segment& segment = *transfer.segment;
    return {segment.file(), segment.byte_of(transfer.place, field), layout_.part_bytes(field)};
  }

  // The numbers of a field, without the padding after the last state.
  std::span<std::byte> numbers_of(const Transfer& transfer, std::size_t field) const {
    auto [first, bytes] = used_extent(layout_, transfer, field);
    const BlockLayout::Part& part = layout_.parts()[field];
    if (transfer.extents.empty() && bytes > 0) bytes -= part.stride - part.bytes;
    return {transfer.bytes + first, static_cast<std::size_t>(bytes)};
  }

  // Of a write.
  std::optional<CodecName> codec_of(const Transfer& transfer) {
    if (encoder_ == nullptr || !transfer.write) return std::nullopt;
    // Always the same: the two copies of block 0 have one description.
    if (transfer.exact) return is_lossy() ? CodecName::kLz4 : options_.encoding->codecs.front();
    return encoder_->choice.next();
  }

  void encode_part(const Transfer& transfer, CodecName codec, std::size_t field,
                   std::vector<std::int64_t>& pieces, BlockChecksum& sum, TransferTotals& added) {
    const std::span<std::byte> numbers = numbers_of(transfer, field);
    const EncodedPart::Place place = place_of(transfer, field);
    Encoded encoded(options_, sum, added.bytes_written, added.seconds_checksums);
    const auto bytes = std::ssize(numbers);
    added.bytes_encoded += bytes;
    encoder_->part.write(codec, place, numbers, field, pieces, encoded);
    cache_is_done_with(transfer, place.offset, bytes);
  }

  // Takes its pieces from the front of `pieces`.
  void decode_part(const Transfer& transfer, std::size_t field,
                   std::span<const std::int64_t>& pieces, BlockChecksum& sum,
                   TransferTotals& added) {
    const std::span<std::byte> numbers = numbers_of(transfer, field);
    const EncodedPart::Place place = place_of(transfer, field);
    Encoded encoded(options_, sum, added.bytes_read, added.seconds_checksums);
    encoder_->part.read(place, numbers, field, take_pieces(pieces), encoded);
    cache_is_done_with(transfer, place.offset, std::ssize(numbers));
  }

  // By the codec that wrote the block, if one did.
  Failure change(const Transfer& transfer) {
    const bool by_zfp = has_piece(transfer.encoded, Piece::Coding::kZfp);
    const CodecName codec = by_zfp ? CodecName::kZfp : options_.encoding->codecs.front();
    for (std::size_t f = 0; f < layout_.parts().size(); ++f)
      encoder_->part.change(codec, numbers_of(transfer, f), f, transfer.change);
    return {};
  }

  void move_part(const Transfer& transfer, std::size_t field, BlockChecksum& sum,
                 TransferTotals& added) const {
    const auto [place, length] = moved_extent(layout_, transfer, field);
    const auto add_up_to = [&](std::int64_t end) {
      const AddTime time(added.seconds_checksums);
      sum.add_up_to(field, end);
    };
    move_bytes(transfer, transfer.bytes + place, length,
               transfer.segment->byte_of(transfer.place, field), added, add_up_to);
  }

  // Several calls are under way at a time, so that the disk is never idle; see(end) may look at the
  // bytes before `end` while others move.
  template <class See>
  void move_bytes(const Transfer& transfer, std::byte* bytes, std::int64_t length,
                  std::int64_t offset, TransferTotals& added, const See& see) const {
    const File& file = transfer.segment->file();
    const Calls size = calls_of(transfer);
    const std::int64_t call_bytes = size.bytes;
    std::array<FileTransfer, kMostCalls> calls;
    const Drain drain{file, calls};  // the system must not write into memory that is given back
    const double began = now_seconds();
    std::int64_t started = 0;
    for (std::int64_t finished = 0, call = 0; finished < length; ++call) {
      while (started < length && started < finished + size.under_way * call_bytes) {
        FileTransfer& next = calls[at(started / call_bytes) % calls.size()];
        next.write = transfer.write;
        next.bytes = bytes + started;
        next.count = static_cast<std::size_t>(std::min(call_bytes, length - started));
        next.offset = offset + started;
        file.start(next);
        started += static_cast<std::int64_t>(next.count);
        if (transfer.write) see(started);
      }
      FileTransfer& oldest = calls[at(call) % calls.size()];
      file.finish(oldest);
      finished += static_cast<std::int64_t>(oldest.count);
      if (!transfer.write) see(finished);
      (transfer.write ? added.bytes_written : added.bytes_read) +=
          static_cast<std::int64_t>(oldest.count);
      keep_to_limit(options_, began, finished);
    }
    cache_is_done_with(transfer, offset, length);
  }

  // Buffered: start the writeback now, and do not fill the page cache with states read once.
  static void cache_is_done_with(const Transfer& transfer, std::int64_t offset,
                                 std::int64_t length) {
    if (transfer.segment->direct()) return;
    const int file = transfer.segment->file().get();
    if (transfer.write) {
      platform::begin_writing(file, offset, length);
    } else {
      platform::drop_cached(file, offset, length);
    }
  }

  // Measured: few large writes; reads in pieces whose checksum is computed while they are in the
  // processor's cache.
  struct Calls {
    std::int64_t bytes, under_way;
  };
  static constexpr std::int64_t kMostCalls = 8;

  Calls calls_of(const Transfer& transfer) const {
    constexpr std::int64_t kMiB = std::int64_t{1} << 20;
    if (options_.bytes_per_second <= 0) {
      return transfer.write ? Calls{8 * kMiB, 2} : Calls{kMiB / 2, kMostCalls};
    }
    // Small enough for the limit to be even.
    return {std::clamp(options_.bytes_per_second / 50 / kPage * kPage, kPage, 8 * kMiB), 1};
  }

  // Waits for what is still under way when a call has failed.
  struct Drain {
    const File& file;
    std::array<FileTransfer, kMostCalls>& calls;
    ~Drain() {
      for (FileTransfer& call : calls) {
        if (call.pending) file_system().finish(call);
      }
    }
  };

  const BlockLayout layout_;
  const TransportOptions options_;
  mutable std::mutex
      mutex_;  // guards the queues, the totals, and the second half of queued transfers
  std::condition_variable_any work_;
  std::condition_variable finished_;
  std::deque<Transfer*> reads_, writes_;
  std::vector<FinishedWrite> finished_writes_;  ///< guarded likewise
  TransferTotals totals_;
  struct Encoder {
    Encoder(const BlockLayout& layout, const TransportOptions& options)
        : part(*options.encoding, layout),
          choice(options.encoding->codecs, options.cores_are_busy) {}
    EncodedPart part;
    CodecChoice choice;
  };
  const std::unique_ptr<Encoder> encoder_;  ///< the I/O thread's
  std::jthread thread_;                     // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Transport> make_direct_transport(const BlockLayout& layout,
                                                 const TransportOptions& options) {
  return std::make_unique<DirectTransport>(layout, options);
}

}  // namespace anadrome::store
