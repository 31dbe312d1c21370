// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/encoded_part.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "store/moving/rounding.h"

namespace anadrome::store {
namespace {

// One call moves about so many bytes.
constexpr std::int64_t kCallBytes = std::int64_t{1} << 20;

// Whole slabs of a field with several dimensions are in a piece of at most so many bytes.
constexpr std::int64_t kMostPieceBytes = std::int64_t{1} << 20;

std::int64_t largest_part(const BlockLayout& layout) {
  std::int64_t bytes = 0;
  for (std::size_t f = 0; f < layout.parts().size(); ++f)
    bytes = std::max(bytes, layout.part_bytes(f));
  return bytes;
}

// Room for a piece behind what is left of a page, and for the rest of its last page.
std::int64_t buffer_bytes(const BlockLayout& layout, std::int64_t piece_bytes) {
  const std::int64_t most = round_up(largest_part(layout), kPage);
  return std::max(std::min(kCallBytes, most), piece_bytes) + 2 * kPage;
}

}  // namespace

Encoding encoding_of(Codecs codecs, double tolerance, std::span<const Field> fields) {
  Encoding encoding;
  encoding.codecs = std::move(codecs);
  for (const Field& field : fields) {
    Encoding::Field& how = encoding.fields.emplace_back();
    how.number_bytes = element_bytes(field.type);
    how.real_bytes = is_packed(field) ? 0 : real_bytes(field.type);
    how.relative = field.tolerance < 0;
    how.tolerance = how.relative ? tolerance : field.tolerance;
    if (how.relative && !has_tolerance(encoding.codecs)) how.tolerance = kNoOutliers;
    how.shape = field.shape;
  }
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

// By how much the numbers of a piece may be changed, and which ones not at all: the states in a
// part have tolerances of their own, and a piece has the least of those in it. Pieces come in their
// order.
class EncodedPart::Tolerances {
 public:
  using Allowed = std::pair<double, double>;  ///< the tolerance, and where outliers begin
  Tolerances(CodecName codec, const Encoding::Field& how, const Cut& cut,
             std::span<const std::byte> part)
      : how_(how), cut_(cut), part_(part), on_(is_lossy(codec) && how.real_bytes > 0) {}
  Allowed of_piece(std::size_t first, std::size_t bytes) {
    if (!on_) return {0, kNoOutliers};
    const std::size_t stride = size(cut_.stride), last = (first + bytes - 1) / stride;
    Allowed least = of_state(first / stride);
    for (std::size_t state = first / stride; state < last; ++state) {
      const Allowed next = of_state(state + 1);
      least = {std::min(least.first, next.first), std::min(least.second, next.second)};
    }
    return least;
  }

 private:
  Allowed of_state(std::size_t state) {
    if (state == known_) return allowed_;
    const std::size_t begin = state * size(cut_.stride);
    const Magnitudes found =
        magnitudes_of(part_.subspan(begin, std::min(size(cut_.state_bytes), part_.size() - begin)),
                      how_.real_bytes);
    known_ = state;
    return allowed_ = {how_.tolerance * (how_.relative ? found.usual : 1), found.outliers};
  }

  const Encoding::Field& how_;
  const Cut& cut_;
  const std::span<const std::byte> part_;
  const bool on_;
  std::size_t known_ = std::numeric_limits<std::size_t>::max();
  Allowed allowed_;
};

// Several states of a field whose numbers follow each other have a common shape.
EncodedPart::Cut EncodedPart::cut_of(const Encoding::Field& field, const BlockLayout::Part& part,
                                     std::int64_t states, bool shaped) {
  Cut cut;
  cut.state_bytes = part.bytes;
  cut.stride = part.stride;
  cut.piece_bytes = kPieceBytes;
  cut.padded = states > 1 && part.bytes != part.stride;
  if (shaped && field.real_bytes > 0 && !cut.padded) {
    // Slabs of the last dimensions, as many as fit.
    const std::int64_t parts_of_number = field.number_bytes / field.real_bytes;
    std::int64_t row = 0, slab = parts_of_number;
    for (std::size_t d = field.shape.size(); d-- > 1;) {
      slab *= field.shape[d];
      constexpr std::int64_t kSide = 4;  // of zfp's blocks
      const std::int64_t least = kSide * slab * field.real_bytes;
      if (slab == 0 || least > kMostPieceBytes || cut.plane > 0) break;
      cut.plane = row > 0 ? slab : 0;
      row = row > 0 ? row : slab;
      cut.row = row;
      cut.piece_bytes = std::max<std::int64_t>(kPieceBytes / least, 1) * least;
    }
  }
  cut.piece_bytes = std::min(cut.piece_bytes, part.stride * states);
  return cut;
}

std::vector<EncodedPart::Cut> EncodedPart::cuts_of(const Encoding& encoding,
                                                   const BlockLayout& layout) {
  const Codecs& names = encoding.codecs;
  const bool shaped = std::find(names.begin(), names.end(), CodecName::kZfp) != names.end();
  std::vector<Cut> cuts;
  for (std::size_t f = 0; f < layout.parts().size(); ++f)
    cuts.push_back(cut_of(encoding.fields[f], layout.parts()[f], layout.states(), shaped));
  return cuts;
}

std::int64_t EncodedPart::largest_piece(const std::vector<Cut>& cuts) {
  std::int64_t bytes = 0;
  for (const Cut& cut : cuts) bytes = std::max(bytes, cut.piece_bytes);
  return bytes;
}

EncodedPart::EncodedPart(const Encoding& encoding, const BlockLayout& layout)
    : encoding_(encoding),
      cuts_(cuts_of(encoding, layout)),
      buffer_bytes_(size(buffer_bytes(layout, largest_piece(cuts_)))),
      codec_(encoding.codecs, largest_piece(cuts_)),
      memory_(kBuffers * buffer_bytes_ + size(kPage)) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) % size(kPage);
  std::byte* next = memory_.data() + (beyond == 0 ? 0 : size(kPage) - beyond);
  for (std::byte*& buffer : buffers_) {
    buffer = next;
    next += buffer_bytes_;
  }
}

std::int64_t EncodedPart::memory_bytes(const Encoding& encoding, const BlockLayout& layout) {
  const std::int64_t piece = largest_piece(cuts_of(encoding, layout));
  return static_cast<std::int64_t>(kBuffers) * buffer_bytes(layout, piece) + kPage +
         PieceCodec::memory_bytes(encoding.codecs, piece);
}

// zfp would see what lies between states, which nobody says.
CodecName EncodedPart::codec_of(CodecName codec, const Cut& cut) {
  return codec == CodecName::kZfp && cut.padded ? CodecName::kRound : codec;
}

Numbers EncodedPart::numbers_of(std::size_t field, std::size_t bytes) const {
  const Encoding::Field& how = encoding_.fields[field];
  const Cut& cut = cuts_[field];
  Numbers numbers{how.number_bytes, how.real_bytes};
  if (how.real_bytes == 0) return numbers;
  const std::int64_t count = static_cast<std::int64_t>(bytes) / how.real_bytes;
  if (cut.plane > 0 && count % cut.plane == 0) {
    numbers.sizes = {cut.row, cut.plane / cut.row, count / cut.plane};
  } else if (cut.row > 0 && count % cut.row == 0) {
    numbers.sizes = {cut.row, count / cut.row, 1};
  } else {
    numbers.sizes = {count, 1, 1};
  }
  return numbers;
}

void EncodedPart::write(CodecName codec, const Place& place, std::span<const std::byte> from,
                        std::size_t field, std::vector<std::int64_t>& pieces, Observer& observer) {
  const std::size_t piece_bytes = size(cuts_[field].piece_bytes);
  pieces.push_back(from.empty() ? 0 : pieces_of(std::ssize(from), cuts_[field].piece_bytes));
  if (from.empty()) return;
  codec = codec_of(codec, cuts_[field]);
  Tolerances tolerances(codec, encoding_.fields[field], cuts_[field], from);
  Calls calls(place, true, observer);
  std::size_t buffer = 0, filled = 0;  // the one being filled, and how far
  std::int64_t first = 0;              // its byte of the place
  for (std::size_t begin = 0; begin < from.size(); begin += piece_bytes) {
    const auto bytes = from.subspan(begin, std::min(from.size() - begin, piece_bytes));
    if (filled + bytes.size() > buffer_bytes_) {
      // Whole pages go; what is left of the last one goes with what comes.
      const std::size_t whole = filled / size(kPage) * size(kPage), next = 1 - buffer;
      calls.start(buffer, buffers_[buffer], static_cast<std::int64_t>(whole), first);
      calls.finish(next);
      std::memcpy(buffers_[next], buffers_[buffer] + whole, filled - whole);
      first += static_cast<std::int64_t>(whole);
      filled -= whole;
      buffer = next;
    }
    const std::span<std::byte> to(buffers_[buffer] + filled, bytes.size());
    Numbers numbers = numbers_of(field, bytes.size());
    std::tie(numbers.tolerance, numbers.outliers) = tolerances.of_piece(begin, bytes.size());
    const Piece piece = codec_.encode(codec, bytes, numbers, to);
    pieces.push_back(piece.in_one_number());
    observer.see(to.first(size(piece.bytes)));
    filled += size(piece.bytes);
  }
  const std::size_t whole = size(round_up(static_cast<std::int64_t>(filled), kPage));
  std::memset(buffers_[buffer] + filled, 0, whole - filled);
  calls.start(buffer, buffers_[buffer], static_cast<std::int64_t>(whole), first);
  calls.finish(1 - buffer);
  calls.finish(buffer);
}

void EncodedPart::read(const Place& place, std::span<std::byte> to, std::size_t field,
                       std::span<const std::int64_t> pieces, Observer& observer) {
  const std::int64_t piece_bytes = cuts_[field].piece_bytes;
  const std::int64_t wanted = to.empty() ? 0 : pieces_of(std::ssize(to), piece_bytes);
  if (std::ssize(pieces) != wanted)
    throw Error(ANADROME_ERR_CORRUPT, "it has another number of compressed pieces");
  if (to.empty()) return;
  // The bytes of piece p, in memory and on disk.
  const auto decoded_bytes = [&](std::size_t p) {
    return std::min(size(piece_bytes), to.size() - p * size(piece_bytes));
  };
  const auto piece_at = [&](std::size_t p) {
    const Piece piece = Piece::of(pieces[p]);
    if (size(piece.bytes) > decoded_bytes(p))
      throw Error(ANADROME_ERR_CORRUPT, "no compressed piece is so long");
    return piece;
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
    for (; batch.end < pieces.size(); ++batch.end) {
      const std::int64_t longer = end + piece_at(batch.end).bytes;
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
      const Piece piece = piece_at(p);
      const std::span<const std::byte> bytes(from, size(piece.bytes));
      observer.see(bytes);
      codec_.decode(piece, bytes, numbers_of(field, decoded_bytes(p)),
                    to.subspan(p * size(piece_bytes), decoded_bytes(p)));
      from += bytes.size();
    }
    batch = next;
    buffer = 1 - buffer;
  }
}

void EncodedPart::change(CodecName codec, std::span<std::byte> part, std::size_t field,
                         double times) {
  const std::size_t piece_bytes = size(cuts_[field].piece_bytes);
  codec = codec_of(codec, cuts_[field]);
  Tolerances tolerances(codec, encoding_.fields[field], cuts_[field], part);
  for (std::size_t begin = 0; begin < part.size(); begin += piece_bytes) {
    const auto bytes = part.subspan(begin, std::min(part.size() - begin, piece_bytes));
    Numbers numbers = numbers_of(field, bytes.size());
    std::tie(numbers.tolerance, numbers.outliers) = tolerances.of_piece(begin, bytes.size());
    numbers.tolerance *= times;
    codec_.change(codec, bytes, numbers);
  }
}

}  // namespace anadrome::store
