// SPDX-License-Identifier: BSD-2-Clause
#include "engine/repacking.h"

#include <algorithm>
#include <utility>

namespace anadrome::engine {
namespace {

constexpr int kTag = 1;

std::int64_t part_bytes(const store::FieldDescription& field, int rank, std::int64_t states) {
  return field.strides[static_cast<std::size_t>(rank)] * states * store::element_bytes(field.type);
}

}  // namespace

Repacking::Repacking(MPI_Comm file_comm, const store::BlockLayout& layout, Read read)
    : comm_(file_comm), layout_(layout), read_(std::move(read)) {}

// Every message that is sent is received, whatever failed on the way.
Failure Repacking::move(const store::Segment::Range& range, std::int64_t used,
                        store::RepackedSegment* file,
                        std::span<const store::FieldDescription> fields) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &size);
  if (rank != 0) return send_mine(range, used);
  file_ = file;
  fields_ = fields;
  failure_ = failure_from([&] { buffer_.resize(static_cast<std::size_t>(kMessageBytes)); });
  whole_ = file != nullptr && !failure_;
  for (int from = 0; from < size; ++from) {
    if (from == 0) {
      if (whole_) add_mine(range, used);
    } else {
      int go = whole_ ? 1 : 0;
      MPI_Send(&go, 1, MPI_INT, from, kTag, comm_);
      if (go == 1) receive(from, used);
    }
    for (std::size_t f = 0; f < fields_.size() && whole_; ++f) {
      const std::int64_t bytes = part_bytes(fields_[f], from, layout_.states());
      hold(failure_from([&] { file_->skip(f, (range.blocks - used) * bytes); }));
    }
  }
  return failure_;
}

std::span<const std::byte> Repacking::part(std::span<const std::byte> block,
                                           std::size_t field) const {
  return block.subspan(static_cast<std::size_t>(layout_.parts()[field].offset),
                       static_cast<std::size_t>(layout_.part_bytes(field)));
}

void Repacking::hold(const Failure& failure) {
  if (!failure) return;
  whole_ = false;
  failure_ = failure;
}

void Repacking::add(std::size_t field, std::span<const std::byte> bytes) {
  if (whole_) hold(failure_from([&] { file_->append(field, bytes); }));
}

void Repacking::add_mine(const store::Segment::Range& range, std::int64_t used) {
  for (std::int64_t b = 0; b < used && whole_; ++b) {
    std::span<const std::byte> block;
    hold(read_(range.first_block + b, block));
    for (std::size_t f = 0; f < fields_.size() && whole_; ++f) add(f, part(block, f));
  }
}

Failure Repacking::send_mine(const store::Segment::Range& range, std::int64_t used) {
  int go = 0;
  MPI_Recv(&go, 1, MPI_INT, 0, kTag, comm_, MPI_STATUS_IGNORE);
  for (std::int64_t b = 0; b < used && go == 1; ++b) {
    std::span<const std::byte> block;
    Failure failure = read_(range.first_block + b, block);
    int good = failure ? 0 : 1;
    MPI_Send(&good, 1, MPI_INT, 0, kTag, comm_);
    if (failure) return failure;
    for (std::size_t f = 0; f < layout_.parts().size(); ++f) {
      for (std::span<const std::byte> left = part(block, f); !left.empty();) {
        const std::size_t bytes = std::min(left.size(), static_cast<std::size_t>(kMessageBytes));
        MPI_Send(left.data(), static_cast<int>(bytes), MPI_BYTE, 0, kTag, comm_);
        left = left.subspan(bytes);
      }
    }
  }
  return {};
}

void Repacking::receive(int rank, std::int64_t used) {
  for (std::int64_t b = 0; b < used; ++b) {
    int good = 0;
    MPI_Recv(&good, 1, MPI_INT, rank, kTag, comm_, MPI_STATUS_IGNORE);
    if (good == 0) {  // that rank says why
      whole_ = false;
      return;
    }
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      for (std::int64_t left = part_bytes(fields_[f], rank, layout_.states()); left > 0;) {
        const std::int64_t bytes = std::min(left, kMessageBytes);
        MPI_Recv(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, rank, kTag, comm_,
                 MPI_STATUS_IGNORE);
        add(f, std::span(buffer_).first(static_cast<std::size_t>(bytes)));
        left -= bytes;
      }
    }
  }
}

}  // namespace anadrome::engine
