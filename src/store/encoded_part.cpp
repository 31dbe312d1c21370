// SPDX-License-Identifier: BSD-2-Clause
#include "store/encoded_part.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::store {
namespace {

// One call moves about so many bytes.
constexpr std::int64_t kCallBytes = std::int64_t{1} << 20;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

std::int64_t largest_part(const BlockLayout& layout) {
  std::int64_t bytes = 0;
  for (std::size_t f = 0; f < layout.parts().size(); ++f)
    bytes = std::max(bytes, layout.part_bytes(f));
  return bytes;
}

std::int64_t piece_bytes(const BlockLayout& layout) {
  return std::min(kPieceBytes, largest_part(layout));
}

// Room for a piece behind what is left of a page, and for the rest of its last page.
std::int64_t buffer_bytes(const BlockLayout& layout) {
  const std::int64_t most = round_up(largest_part(layout), kPage);
  return std::min(kCallBytes, most) + 2 * kPage;
}

}  // namespace

Encoding encoding_of(CodecName codec, std::span<const Field> fields) {
  Encoding encoding;
  encoding.codec = codec;
  for (const Field& field : fields) encoding.number_bytes.push_back(element_bytes(field.type));
  return encoding;
}

// What is under way in the buffers, in turn. What fails, or is thrown, waits for it: the system
// must not write into memory that is used for something else.
class EncodedPart::Calls {
 public:
  Calls(const Place& place, bool write, Observer& observer) : place_(place), observer_(observer) {
    for (FileTransfer& call : calls_) call.write = write;
  }
  ~Calls() {
    for (FileTransfer& call : calls_) {
      if (call.pending) file_system().finish(call);
    }
  }
  // `first`: byte of the place.
  void start(std::size_t buffer, std::byte* bytes, std::int64_t count, std::int64_t first) {
    FileTransfer& call = calls_[buffer];
    call.bytes = bytes;
    call.count = size(std::min(count, place_.bytes - first));
    call.offset = place_.offset + first;
    under_way_[buffer] = count > 0;
    if (count > 0) place_.file.start(call);
  }
  void finish(std::size_t buffer) {
    if (!std::exchange(under_way_[buffer], false)) return;
    place_.file.finish(calls_[buffer]);
    observer_.moved(static_cast<std::int64_t>(calls_[buffer].count));
  }

 private:
  const Place& place_;
  Observer& observer_;
  std::array<FileTransfer, kBuffers> calls_;
  std::array<bool, kBuffers> under_way_ = {};
};

EncodedPart::EncodedPart(const Encoding& encoding, const BlockLayout& layout)
    : encoding_(encoding),
      codec_(make_codec(encoding.codec)),
      piece_bytes_(size(piece_bytes(layout))),
      buffer_bytes_(size(buffer_bytes(layout))),
      memory_(kBuffers * buffer_bytes_ + piece_bytes_ + size(kPage)) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) % size(kPage);
  std::byte* next = memory_.data() + (beyond == 0 ? 0 : size(kPage) - beyond);
  for (std::byte*& buffer : buffers_) {
    buffer = next;
    next += buffer_bytes_;
  }
  shuffled_ = {next, piece_bytes_};
}

std::int64_t EncodedPart::memory_bytes(CodecName codec, const BlockLayout& layout) {
  return static_cast<std::int64_t>(kBuffers) * buffer_bytes(layout) + piece_bytes(layout) + kPage +
         codec_bytes(codec);
}

void EncodedPart::write(const Place& place, std::span<const std::byte> from, std::size_t field,
                        std::vector<std::int64_t>& lengths, Observer& observer) {
  Calls calls(place, true, observer);
  std::size_t buffer = 0, filled = 0;  // the one being filled, and how far
  std::int64_t first = 0;              // its byte of the place
  while (!from.empty()) {
    const std::span<const std::byte> piece = from.first(std::min(from.size(), piece_bytes_));
    from = from.subspan(piece.size());
    if (filled + piece.size() > buffer_bytes_) {
      // Whole pages go; what is left of the last one goes with what comes.
      const std::size_t whole = filled / size(kPage) * size(kPage), next = 1 - buffer;
      calls.start(buffer, buffers_[buffer], static_cast<std::int64_t>(whole), first);
      calls.finish(next);
      std::memcpy(buffers_[next], buffers_[buffer] + whole, filled - whole);
      first += static_cast<std::int64_t>(whole);
      filled -= whole;
      buffer = next;
    }
    std::byte* const to = buffers_[buffer] + filled;
    shuffle(piece, encoding_.number_bytes[field], shuffled_.data());
    const std::int64_t encoded =
        codec_->encode(shuffled_.first(piece.size()), {to, piece.size() - 1});
    if (encoded == 0) std::memcpy(to, piece.data(), piece.size());
    lengths.push_back(encoded);
    const std::size_t length = encoded == 0 ? piece.size() : size(encoded);
    observer.see({to, length});
    filled += length;
  }
  const std::size_t whole = size(round_up(static_cast<std::int64_t>(filled), kPage));
  std::memset(buffers_[buffer] + filled, 0, whole - filled);
  calls.start(buffer, buffers_[buffer], static_cast<std::int64_t>(whole), first);
  calls.finish(1 - buffer);
  calls.finish(buffer);
}

void EncodedPart::read(const Place& place, std::span<std::byte> to, std::size_t field,
                       std::span<const std::int64_t> lengths, Observer& observer) {
  if (static_cast<std::int64_t>(lengths.size()) != pieces_of(static_cast<std::int64_t>(to.size())))
    throw Error(ANADROME_ERR_CORRUPT, "the lengths of its pieces are missing");
  // The bytes of piece p, in memory and on disk.
  const auto decoded_bytes = [&](std::size_t p) {
    return std::min(piece_bytes_, to.size() - p * piece_bytes_);
  };
  const auto encoded_bytes = [&](std::size_t p) {
    const std::int64_t length = lengths[p];
    if (length < 0 || length >= static_cast<std::int64_t>(decoded_bytes(p)))
      throw Error(ANADROME_ERR_CORRUPT, "no piece is so long");
    return length == 0 ? decoded_bytes(p) : size(length);
  };
  // Pieces first .. end that one call brings, with the pages on which they begin and end.
  struct Batch {
    std::size_t first, end;
    std::size_t begins;        // in its first page
    std::int64_t page, bytes;  // its pages
  };
  std::int64_t next_byte = 0;
  const auto batch_from = [&](std::size_t first) {
    Batch batch{first, first, size(next_byte % kPage), next_byte / kPage * kPage, 0};
    std::int64_t end = next_byte;
    for (; batch.end < lengths.size(); ++batch.end) {
      const std::int64_t longer = end + static_cast<std::int64_t>(encoded_bytes(batch.end));
      const std::int64_t bytes = round_up(longer, kPage) - batch.page;
      if (batch.end > first && bytes > static_cast<std::int64_t>(buffer_bytes_)) break;
      batch.bytes = bytes;
      end = longer;
    }
    next_byte = end;
    return batch;
  };

  Calls calls(place, false, observer);
  std::size_t buffer = 0;
  const auto start = [&](std::size_t which, const Batch& batch) {
    calls.start(which, buffers_[which], batch.bytes, batch.page);
  };
  Batch batch = batch_from(0);
  start(buffer, batch);
  while (batch.first < batch.end) {
    const Batch next = batch_from(batch.end);
    start(1 - buffer, next);
    calls.finish(buffer);
    const std::byte* from = buffers_[buffer] + batch.begins;
    for (std::size_t p = batch.first; p < batch.end; ++p) {
      const std::size_t length = encoded_bytes(p), bytes = decoded_bytes(p);
      const std::span<const std::byte> piece(from, length);
      std::byte* const decoded = to.data() + p * piece_bytes_;
      observer.see(piece);
      if (lengths[p] == 0) {
        std::memcpy(decoded, from, bytes);
      } else {
        codec_->decode(piece, shuffled_.first(bytes));
        unshuffle(shuffled_.first(bytes), encoding_.number_bytes[field], decoded);
      }
      from += length;
    }
    batch = next;
    buffer = 1 - buffer;
  }
}

}  // namespace anadrome::store
