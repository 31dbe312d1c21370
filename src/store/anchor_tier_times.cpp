// AnchorTier, the part that measures what transfers take, and what they take of the caller.
#include <algorithm>

#include "base/clock.h"
#include "store/anchor_tier.h"

namespace anadrome::store {

void AnchorTier::start(Transfer& transfer) {
  if (!transport_.overlaps()) return transport_.start(transfer);
  const double began = now_seconds();
  transport_.start(transfer);
  Meter& meter = transfer.write ? times_.write_start : times_.read_start;
  meter.add(now_seconds() - began, transfer.identity.states);
}

// The caller has just waited.
void AnchorTier::note_wait(const Transfer& transfer, double seconds) {
  if (seconds <= 0) return;
  (transfer.write ? seconds_stalled_write_ : seconds_stalled_read_) += seconds;
  const double now = now_seconds();
  observer_.waited(now - seconds, now);
}

double AnchorTier::seconds_of_first_write() const {
  if (writes_begun_ == 0 || times_.write.seconds() > 0) return 0;
  return (now_seconds() - first_write_began_) / static_cast<double>(layout_.states());
}

// Of whole blocks: a state that is smaller stands for a part of one, unless it is much smaller than
// others: what a call takes by itself is no part of a block's time.
void AnchorTier::note_time(const Transfer& transfer) {
  if (transfer.failure) return;
  std::int64_t moved = 0;
  for (std::size_t f = 0; f < transfer.extents.size(); ++f)
    moved += moved_extent(layout_, transfer, f).bytes;
  if (2 * moved < most_moved_) return;
  most_moved_ = std::max(most_moved_, moved);
  const double blocks =
      moved == 0 ? 1.0 : static_cast<double>(moved) / static_cast<double>(layout_.block_bytes());
  const std::int64_t states = transfer.identity.states;
  (transfer.write ? times_.write : times_.read).add(transfer.seconds / blocks, states);
  (transfer.write ? times_.write_processor : times_.read_processor)
      .add(transfer.processor_seconds / blocks, states);
}

}  // namespace anadrome::store
