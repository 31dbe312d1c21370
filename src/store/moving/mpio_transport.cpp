// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/mpio_transport.h"

#include <algorithm>
#include <array>
#include <climits>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/platform/platform.h"
#include "store/files/hdf5_write.h"

#ifdef H5_HAVE_PARALLEL
namespace anadrome::store {
namespace {

// Two threads in collective calls of HDF5 would wait for each other's turns across ranks.
class OneThread {
 public:
  OneThread() {
    const std::lock_guard lock(mutex);
    if (users > 0 && user != std::this_thread::get_id()) {
      throw Error(ANADROME_ERR_UNSUPPORTED,
                  "transport=mpio: a run of another thread of this process uses it, and parallel "
                  "HDF5 is for one thread; set transport=auto");
    }
    user = std::this_thread::get_id();
    ++users;
  }
  ~OneThread() {
    const std::lock_guard lock(mutex);
    --users;
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  static inline std::mutex mutex;
  static inline int users = 0;
  static inline std::thread::id user;
};

class MpioTransport final : public Transport {
 public:
  MpioTransport(const BlockLayout& layout, const TransportOptions& options,
                std::vector<Field> state_fields, MPI_Comm file_comm)
      : layout_(layout),
        options_(options),
        fields_(std::move(state_fields)),
        file_comm_(file_comm) {
    for (const Field& field : fields_) paths_.push_back("/slots/" + field.name);
    datasets_.reserve(fields_.size());
    open_path_.reserve(PATH_MAX);
  }
  ~MpioTransport() override {
    const QuietHdf5 quiet;
    datasets_.clear();
    file_.reset();
  }

  bool overlaps() const override { return false; }
  double wait(const Transfer&) override { return 0; }
  bool done(const Transfer& transfer) override { return transfer.done; }
  bool cancel(const Transfer&) override { return false; }
  TransferTotals totals() const override { return totals_; }

  std::vector<FinishedWrite> take_finished_writes() override {
    return std::exchange(finished_writes_, {});
  }

  void start(Transfer& transfer) override {
    if (transfer.task) {
      transfer.failure = failure_from(transfer.task);
      transfer.done = true;
      return;
    }
    transfer.failure = {};
    transfer.seconds = 0;
    transfer.started = now_seconds();
    // Whatever fails here, this rank takes part in the collective transfer.
    Failure before = transfer.ready.wait();
    try {
      if (transfer.write) {
        const AddTime time(totals_.seconds_checksums);
        transfer.checksum = checksum_of(layout_, transfer);
      }
    } catch (...) {
      before = current_failure();
    }
    try {
      {
        const AddTime time(transfer.seconds);
        move_block(transfer);
      }
      (transfer.write ? totals_.seconds_writing : totals_.seconds_reading) += transfer.seconds;
      if (!transfer.write) {
        const AddTime time(totals_.seconds_checksums);
        transfer.failure = compare(transfer, checksum_of(layout_, transfer));
      }
    } catch (...) {
      transfer.failure = current_failure();
    }
    if (before) transfer.failure = before;
    if (transfer.write) share_failure(transfer);
    transfer.ended = now_seconds();
    transfer.done = true;
    if (transfer.write && options_.remember_writes) {
      finished_writes_.push_back({transfer.segment,
                                  transfer.place,
                                  transfer.is_copy,
                                  transfer.identity,
                                  transfer.checksum,
                                  {},
                                  transfer.failure});
    }
  }

 private:
  // What is on disk decides which blocks stay in memory, and that which are read: by all ranks of
  // the file at once, or by none.
  void share_failure(Transfer& transfer) {
    int status = transfer.failure.status;
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, file_comm_);
    if (status == ANADROME_OK || transfer.failure) return;
    transfer.failure = {static_cast<anadrome_status>(status),
                        "another rank of the file could not write its part"};
  }

  void move_block(const Transfer& transfer) {
    const QuietHdf5 quiet;
    open_together(*transfer.segment);
    const double start = now_seconds();
    std::int64_t moved = 0;
    Failure failure;  // every rank goes through every collective call before it reports
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      if (!datasets_[f]) continue;
      try {
        moved += move_field(transfer, f);
      } catch (...) {
        failure = current_failure();
      }
    }
    if (failure) throw Error(failure.status, failure.message);
    (transfer.write ? totals_.bytes_written : totals_.bytes_read) += moved;
    keep_to_limit(options_, start, moved);
  }

  std::int64_t move_field(const Transfer& transfer, std::size_t field) {
    const auto [in_memory, bytes] = moved_extent(layout_, transfer, field);
    const hsize_t count = static_cast<hsize_t>(bytes / element_bytes(fields_[field].type));
    const hsize_t length = std::max<hsize_t>(count, 1);
    const Hdf5Space memory(checked(H5Screate_simple(1, &length, nullptr), "create a dataspace"));
    const Hdf5Space place(checked(H5Dget_space(datasets_[field].get()), "get a dataspace"));
    if (count == 0) {
      checked(H5Sselect_none(memory.get()), "select nothing");
      checked(H5Sselect_none(place.get()), "select nothing");
    } else {
      const auto first = static_cast<hsize_t>((transfer.segment->byte_of(transfer.place, field) -
                                               transfer.segment->offsets().fields[field]) /
                                              element_bytes(fields_[field].type));
      checked(H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr),
              "select a block");
    }
    const Hdf5Type type = hdf5_type(fields_[field].type);
    const Hdf5Properties collective(checked(H5Pcreate(H5P_DATASET_XFER), "create properties"));
    checked(H5Pset_dxpl_mpio(collective.get(), H5FD_MPIO_COLLECTIVE),
            "ask for collective transfer");
    std::byte* bytes_at = transfer.bytes + in_memory;
    const auto move = [&](auto call, auto* memory_bytes, const char* what) {
      checked(call(datasets_[field].get(), type.get(), memory.get(), place.get(), collective.get(),
                   memory_bytes),
              what, std::to_string(transfer.identity.block), " of ", transfer.segment->path());
    };
    if (transfer.write) {
      move(H5Dwrite, static_cast<const std::byte*>(bytes_at), "write block ");
    } else {
      move(H5Dread, bytes_at, "read block ");
    }
    return bytes;
  }

  // By all ranks of the file, or by none: those that have it must not wait in a collective call.
  void open_together(const Segment& segment) {
    if (open_path_ == segment.path()) return;
    const Failure failure = failure_from([&] { open_segment(segment); });
    int status = failure.status;
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, file_comm_);
    if (status == ANADROME_OK) return;
    open_path_.clear();
    if (failure) throw Error(failure.status, failure.message);
    throw Error(static_cast<anadrome_status>(status), "another rank of the file could not open it");
  }

  // One segment is open at a time. Takes no memory of this rank's between collective calls.
  void open_segment(const Segment& segment) {
    datasets_.clear();
    file_.reset();
    open_path_.clear();
    const Hdf5Properties access(checked(H5Pcreate(H5P_FILE_ACCESS), "create properties"));
    checked(H5Pset_fapl_mpio(access.get(), file_comm_, MPI_INFO_NULL), "choose the file driver");
    std::array<char, 40> room{};
    const char* open_already = platform::path_of_open(segment.file().get(), room);
    file_ = Hdf5File(
        checked(H5Fopen(open_already, H5F_ACC_RDWR, access.get()), "open ", segment.path()));
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const bool exists = segment.offsets().fields[f] > 0;
      datasets_.push_back(
          exists ? Hdf5Dataset(checked(H5Dopen2(file_.get(), paths_[f].c_str(), H5P_DEFAULT),
                                       "open ", paths_[f]))
                 : Hdf5Dataset());
    }
    open_path_ = segment.path();
  }

  const OneThread one_thread_;
  const BlockLayout layout_;
  const TransportOptions options_;
  const std::vector<Field> fields_;
  MPI_Comm file_comm_;
  std::vector<std::string> paths_;  ///< of their datasets
  std::string open_path_;
  Hdf5File file_;
  std::vector<Hdf5Dataset> datasets_;
  TransferTotals totals_;
  std::vector<FinishedWrite> finished_writes_;
};

}  // namespace

std::unique_ptr<Transport> make_mpio_transport(const BlockLayout& layout,
                                               const TransportOptions& options,
                                               std::vector<Field> state_fields,
                                               MPI_Comm file_comm) {
  if (options.encoding) {
    throw Error(ANADROME_ERR_UNSUPPORTED, "HDF5 moves elements: transport=mpio takes no codec");
  }
  return std::make_unique<MpioTransport>(layout, options, std::move(state_fields), file_comm);
}

}  // namespace anadrome::store

#else

namespace anadrome::store {

std::unique_ptr<Transport> make_mpio_transport(const BlockLayout&, const TransportOptions&,
                                               std::vector<Field>, MPI_Comm) {
  throw Error(ANADROME_ERR_UNSUPPORTED,
              "transport=mpio: this anadrome was built without MPI (ANADROME_MPI=OFF)");
}

}  // namespace anadrome::store

#endif
