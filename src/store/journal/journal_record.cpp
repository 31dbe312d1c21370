// SPDX-License-Identifier: BSD-2-Clause
#include "store/journal/journal_record.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "store/journal/volumes.h"
#include "store/memory/pieces.h"
#include "store/moving/byte_code.h"

namespace anadrome::store {
namespace {

// An 8-bit byte and a line end show what a transfer as text would have changed.
constexpr std::string_view kMagic =
    "\x89"
    "ANAJNL\n";

enum Type : std::uint32_t { kHeader = 1, kSegment = 2, kBlock = 3, kTruncate = 4, kCommit = 5 };

// Sums of two such numbers do not overflow.
bool is_size(std::int64_t value) {
  return value >= 0 && value <= std::numeric_limits<std::int64_t>::max() / 2;
}

bool is_steps(std::int64_t steps) { return steps == -1 || is_size(steps); }

// A name of a file beside the journal, which leads nowhere else.
bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c > ' ' && c < 127 && c != '/'; });
}

bool plausible(const JournalHeader& h) {
  return is_size(h.sweep) && h.ranks >= 1 && h.ranks <= std::numeric_limits<int>::max() &&
         h.rank >= 0 && h.rank < h.ranks && is_steps(h.steps) && h.shape.states >= 1 &&
         is_size(h.shape.states);
}

bool is_volume(std::int64_t volume) { return volume >= 0 && volume < kMostVolumes; }

bool plausible(const JournalSegment& s) {
  const SegmentOffsets& o = s.offsets;
  return is_volume(s.volume) && is_size(s.number) && is_size(s.first_block) && s.blocks >= 1 &&
         is_size(s.blocks) && is_file_name(s.file) && is_size(o.sweep) && is_size(o.slots_used) &&
         is_size(o.slot_step) && is_size(o.checksum) && is_size(o.file_bytes) &&
         std::all_of(o.fields.begin(), o.fields.end(), is_size) &&
         s.strides_before.size() == o.fields.size() &&
         std::all_of(s.strides_before.begin(), s.strides_before.end(), is_size);
}

bool plausible(const JournalBlock& b) {
  return is_size(b.block) && is_size(b.first_step) && b.states >= 1 && is_size(b.states) &&
         (!b.place || (is_volume(b.place->volume) && is_size(b.place->place))) &&
         std::all_of(b.encoded.pieces.begin(), b.encoded.pieces.end(), is_size);
}

bool plausible(const JournalTruncate& t) {
  return is_size(t.blocks) && (!t.volume || is_volume(*t.volume));
}

// Each stretch begins where the one before ends, and no step of any anchor overflows.
bool plausible(const JournalCommit& c) {
  if (c.generation < 1 || !is_size(c.position) || !is_steps(c.steps) || !is_size(c.anchors) ||
      !is_size(c.interval) || !is_size(c.slots)) {
    return false;
  }
  if (c.stretches.empty() != (c.anchors == 0)) return false;
  std::int64_t next_number = 0, next_step = 0;
  for (std::size_t s = 0; s < c.stretches.size(); ++s) {
    const JournalCommit::Stretch& stretch = c.stretches[s];
    const std::int64_t end = s + 1 < c.stretches.size() ? c.stretches[s + 1].number : c.anchors;
    std::int64_t last_step;
    if (stretch.number != next_number || end <= stretch.number || end > c.anchors ||
        stretch.step < next_step || !is_size(stretch.spacing) ||
        (end - stretch.number > 1 && stretch.spacing < 1) ||
        __builtin_mul_overflow(end - stretch.number - 1, stretch.spacing, &last_step) ||
        __builtin_add_overflow(last_step, stretch.step, &last_step) || !is_size(last_step)) {
      return false;
    }
    next_number = end;
    next_step = last_step + 1;
  }
  return true;
}

void encode(Encoder& to, const JournalHeader& h) {
  to.u64(h.run_id_low).u64(h.run_id_high).i64(h.sweep).i64(h.ranks).i64(h.rank).i64(h.steps);
  to.i64(h.shape.states).u32(h.shape.paged ? 1 : 0);
  to.text(h.fields).text(h.options).text(h.problem);
}

void encode(Encoder& to, const JournalSegment& s) {
  const SegmentOffsets& o = s.offsets;
  to.i64(s.number).i64(s.first_block).i64(s.blocks).text(s.file);
  to.i64(o.sweep).i64(o.slots_used).i64(o.slot_step).i64(o.checksum).i64(o.file_bytes);
  to.integers(o.fields).integers(s.strides_before);
  if (s.volume != kHome) to.i64(s.volume);
}

void encode(Encoder& to, const JournalBlock& b) {
  to.i64(b.block).i64(b.first_step).i64(b.states).sum(b.sum);
  if (!b.encoded.pieces.empty() || b.place)
    to.u32(b.encoded.exact ? 1 : 0).integers(b.encoded.pieces);
  if (b.place) to.i64(b.place->volume).i64(b.place->place);
}

void encode(Encoder& to, const JournalTruncate& t) {
  to.i64(t.blocks);
  if (t.volume) to.i64(*t.volume);
}

void encode(Encoder& to, const JournalCommit& c) {
  to.i64(c.generation).u32(static_cast<std::uint32_t>(c.phase)).i64(c.position).i64(c.steps);
  to.i64(c.interval).i64(c.slots);
  to.u32(c.adjoint ? 1 : 0).sum(c.adjoint.value_or(Checksum{}));
  to.i64(c.anchors).u32(static_cast<std::uint32_t>(c.stretches.size()));
  for (const JournalCommit::Stretch& stretch : c.stretches) {
    to.i64(stretch.number).i64(stretch.step).i64(stretch.spacing);
  }
}

// Each of these returns false for a value that has no meaning; the decoder knows whether all was
// there.
bool decode(Decoder& from, JournalHeader& h) {
  h.run_id_low = from.u64();
  h.run_id_high = from.u64();
  h.sweep = from.i64();
  h.ranks = from.i64();
  h.rank = from.i64();
  h.steps = from.i64();
  h.shape.states = from.i64();
  const std::uint32_t paged = from.u32();
  h.shape.paged = paged == 1;
  h.fields = from.text();
  h.options = from.text();
  h.problem = from.text();
  return paged <= 1;
}

bool decode(Decoder& from, JournalSegment& s) {
  s.number = from.i64();
  s.first_block = from.i64();
  s.blocks = from.i64();
  s.file = from.text();
  s.offsets.sweep = from.i64();
  s.offsets.slots_used = from.i64();
  s.offsets.slot_step = from.i64();
  s.offsets.checksum = from.i64();
  s.offsets.file_bytes = from.i64();
  s.offsets.fields = from.integers();
  s.strides_before = from.integers();
  if (!from.finished()) {
    s.volume = from.i64();
    return s.volume != kHome;
  }
  return true;
}

bool decode(Decoder& from, JournalBlock& b) {
  b.block = from.i64();
  b.first_step = from.i64();
  b.states = from.i64();
  b.sum = from.sum();
  if (from.finished()) return true;  // it is not encoded
  const std::uint32_t exact = from.u32();
  b.encoded.exact = exact == 1;
  b.encoded.pieces = from.integers();
  if (from.finished()) return exact <= 1 && !b.encoded.pieces.empty();
  const std::int64_t volume = from.i64();
  b.place = {volume, from.i64()};
  return exact <= 1;
}

bool decode(Decoder& from, JournalTruncate& t) {
  t.blocks = from.i64();
  if (!from.finished()) t.volume = from.i64();
  return true;
}

bool decode(Decoder& from, JournalCommit& c) {
  c.generation = from.i64();
  const std::uint32_t phase = from.u32();
  c.phase = phase == 0 ? JournalCommit::Phase::kForward : JournalCommit::Phase::kReverse;
  c.position = from.i64();
  c.steps = from.i64();
  c.interval = from.i64();
  c.slots = from.i64();
  const std::uint32_t adjoint = from.u32();
  const Checksum sum = from.sum();
  if (adjoint == 1) c.adjoint = sum;
  c.anchors = from.i64();
  c.stretches.resize(from.count(3 * sizeof(std::int64_t)));
  for (JournalCommit::Stretch& stretch : c.stretches) {
    stretch.number = from.i64();
    stretch.step = from.i64();
    stretch.spacing = from.i64();
  }
  return phase <= 1 && adjoint <= 1 && (adjoint == 1 || sum == Checksum{});
}

template <class Record>
std::optional<JournalRecord> decoded(std::string_view payload) {
  Decoder from(payload);
  Record record;
  if (!decode(from, record) || !from.finished() || !plausible(record)) return std::nullopt;
  return record;
}

std::uint32_t type_of(const JournalRecord& record) {
  return static_cast<std::uint32_t>(record.index()) + kHeader;
}

}  // namespace

std::string journal_preamble(std::uint32_t version) {
  Encoder number, sum;
  number.u32(version).u32(0);
  sum.sum(journal_preamble_sum(version));
  return std::string(kMagic) + number.bytes() + sum.bytes();
}

Checksum journal_preamble_sum(std::uint32_t version) {
  Encoder number;
  number.u32(version).u32(0);
  ChecksumStream stream;
  stream.add(kMagic.data(), kMagic.size());
  stream.add(number.bytes().data(), number.bytes().size());
  return stream.finish();
}

Checksum record_sum(const Checksum& before, std::string_view head_and_payload) {
  Encoder chain;
  chain.sum(before);
  ChecksumStream stream;
  stream.add(chain.bytes().data(), chain.bytes().size());
  stream.add(head_and_payload.data(), head_and_payload.size());
  return stream.finish();
}

std::string encode_record(const JournalRecord& record, Checksum& chain) {
  Encoder payload;
  const bool sensible = std::visit(
      [&](const auto& r) {
        encode(payload, r);
        return plausible(r);
      },
      record);
  if (!sensible || payload.bytes().size() > kMostPayloadBytes) {
    throw Error(ANADROME_ERR_ARGUMENT, "a journal cannot hold a record of type " +
                                           std::to_string(type_of(record)) + " with " +
                                           std::to_string(payload.bytes().size()) +
                                           " bytes: it is too long or says what cannot be");
  }
  Encoder head;
  head.u32(static_cast<std::uint32_t>(payload.bytes().size())).u32(type_of(record));
  const std::string covered = head.bytes() + payload.bytes();
  const Checksum sum = record_sum(chain, covered);
  Encoder tail;
  tail.sum(sum);
  std::string bytes = covered + tail.bytes();
  chain = sum;
  return bytes;
}

bool is_record_type(std::uint32_t type) { return type >= kHeader && type <= kCommit; }

bool is_synced_type(std::uint32_t type) { return type == kTruncate || type == kCommit; }

std::optional<JournalRecord> decode_record(std::uint32_t type, std::string_view payload) {
  switch (type) {
    case kHeader:
      return decoded<JournalHeader>(payload);
    case kSegment:
      return decoded<JournalSegment>(payload);
    case kBlock:
      return decoded<JournalBlock>(payload);
    case kTruncate:
      return decoded<JournalTruncate>(payload);
    case kCommit:
      return decoded<JournalCommit>(payload);
    default:
      return std::nullopt;
  }
}

}  // namespace anadrome::store
