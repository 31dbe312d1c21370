// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/transfer_notes.h"

#include "base/clock.h"
#include "base/index.h"

namespace anadrome::store {

void TransferNotes::start(Transport& transport, Transfer& transfer) {
  const double began = now_seconds();
  if (transfer.write && first_write_began_ == 0) first_write_began_ = began;
  transport.start(transfer);
  if (!transport.overlaps()) return;
  Meter& meter = transfer.write ? times_.write_start : times_.read_start;
  meter.add(now_seconds() - began, transfer.identity.states);
}

void TransferNotes::waited(const Transfer& transfer, double seconds) {
  if (seconds <= 0) return;
  (transfer.write ? seconds_stalled_write_ : seconds_stalled_read_) += seconds;
  const double now = now_seconds();
  observer_.waited(now - seconds, now);
}

void TransferNotes::finished(const Transfer& transfer, std::int64_t first, std::int64_t last) {
  if (!transfer.failure) {
    note_time(transfer);
    (transfer.write ? states_written_ : states_read_) += transfer.identity.states;
  }
  observer_.moved(transfer, first, last);
  if (transfer.write) note_write(transfer.failure);
}

// Times are those of whole blocks.
void TransferNotes::note_time(const Transfer& transfer) {
  const std::int64_t states = transfer.identity.states;
  (transfer.write ? times_.write : times_.read).add(transfer.seconds, states);
  (transfer.write ? times_.write_processor : times_.read_processor)
      .add(transfer.processor_seconds, states);
}

void TransferNotes::note_write(const Failure& failure) {
  if (!failure) {
    failed_in_series_ = 0;
    return;
  }
  if (!failed_write_) failed_write_ = failure;
  ++writes_failed_;
  ++failed_in_series_;
  full_ = full_ || failure.status == ANADROME_ERR_NO_SPACE;
}

Tier::Cost TransferNotes::cost() const {
  Tier::Cost cost = {times_.write.seconds(), times_.read.seconds()};
  if (cost.write == 0 && first_write_began_ > 0) {
    cost.write = (now_seconds() - first_write_began_) / real(layout_.states());
  }
  return cost;
}

}  // namespace anadrome::store
