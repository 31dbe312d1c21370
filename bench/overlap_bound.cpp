// SPDX-License-Identifier: BSD-2-Clause
#include "overlap_bound.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/index.h"

namespace anadrome::bench {
namespace {

using schedule::OverlapTimes;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Least cost of what happens besides the first sweep and the adjoints if every transfer is over at
// once: an advance costs `advance`, a write `early` before the first adjoint and `late` after it, a
// read after it `read`. Rows by the slots that are free, columns by steps.
class Relaxation {
 public:
  Relaxation(std::int64_t steps, std::int64_t slots, double advance, double early, double late,
             double read);

  /// The bound of a chain of which `pins` states are in RAM at the first adjoint; with x_0 to be
  /// had for nothing, or stored like others.
  double chain(std::int64_t steps, std::int64_t pins, bool free_base) const;

 private:
  using Row = std::vector<double>;

  void fill_gaps();
  void fill_chains();

  std::int64_t steps_, slots_;
  double advance_, early_, late_, read_;
  std::vector<Row> in_ram_;   ///< x_0 is in a slot, and on disk only if `late` is paid
  std::vector<Row> on_disk_;  ///< x_0 is live and on disk
  Row free_;                  ///< x_0 is always to be had
  std::vector<Row> chain_, free_chain_;
};

Relaxation::Relaxation(std::int64_t steps, std::int64_t slots, double advance, double early,
                       double late, double read)
    : steps_(steps),
      slots_(slots),
      advance_(advance),
      early_(early),
      late_(late),
      read_(read),
      in_ram_(at(slots) + 1, Row(at(steps) + 1, kNever)),
      on_disk_(in_ram_),
      free_(at(steps) + 1, kNever) {
  fill_gaps();
  fill_chains();
}

// The first j steps are reversed last: x_j is kept in a slot, or also written.
void Relaxation::fill_gaps() {
  for (std::int64_t s = 0; s <= slots_; ++s) in_ram_[at(s)][1] = on_disk_[at(s)][1] = 0;
  free_[1] = 0;
  const Row& most_slots = in_ram_[at(slots_)];
  for (std::int64_t n = 2; n <= steps_; ++n) {
    for (std::int64_t s = 1; s <= slots_; ++s) {
      const Row &one_less = in_ram_[at(s - 1)], &ram = in_ram_[at(s)], &disk = on_disk_[at(s)];
      double from_ram = kNever, from_disk = kNever;
      for (std::int64_t j = 1; j < n; ++j) {
        const double run = real(j) * advance_;
        const double kept = run + one_less[at(n - j)];
        from_ram = std::min(from_ram, kept + ram[at(j)]);
        from_disk = std::min(from_disk, std::min(kept, run + ram[at(n - j)] + read_) + disk[at(j)]);
      }
      on_disk_[at(s)][at(n)] = from_disk;
      in_ram_[at(s)][at(n)] = std::min(from_ram, late_ + from_disk);
    }
    for (std::int64_t j = 1; j < n; ++j) {
      free_[at(n)] =
          std::min(free_[at(n)], real(j) * advance_ + most_slots[at(n - j)] + free_[at(j)]);
    }
  }
}

void Relaxation::fill_chains() {
  const Row &ram = in_ram_[at(slots_)], &disk = on_disk_[at(slots_)];
  const std::int64_t most_pins = slots_ + 1;  // and the live state
  chain_.assign(at(most_pins) + 1, Row(at(steps_) + 1, 0));
  free_chain_ = chain_;
  const double pinned_and_written = std::min(early_, late_);
  for (std::int64_t p = 0; p <= most_pins; ++p) {
    for (std::int64_t n = 1; n <= steps_; ++n) {
      double least = kNever, least_free = kNever;
      for (std::int64_t j = 1; j <= n; ++j) {
        const Row& same = chain_[at(p)];
        least = std::min(least, early_ + read_ + disk[at(j)] + same[at(n - j)]);
        if (p > 0) {
          const double gap = std::min(ram[at(j)], pinned_and_written + disk[at(j)]);
          least = std::min(least, gap + chain_[at(p - 1)][at(n - j)]);
        }
        least_free = std::min(least_free, free_[at(j)] + same[at(n - j)]);
      }
      chain_[at(p)][at(n)] = least;
      free_chain_[at(p)][at(n)] = least_free;
    }
  }
}

double Relaxation::chain(std::int64_t steps, std::int64_t pins, bool free_base) const {
  return (free_base ? free_chain_ : chain_)[at(pins)][at(steps)];
}

// The maximum of a concave function on [0, 1).
template <class Function>
double most_of(const Function& function, int refinements) {
  double low = 0, high = 0.98, most = 0;
  for (int i = 0; i < refinements; ++i) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    const double at_left = function(left), at_right = function(right);
    most = std::max({most, at_left, at_right});
    if (at_left < at_right) {
      low = left;
    } else {
      high = right;
    }
  }
  return std::max(most, function(low));
}

}  // namespace

double overlapped_lower_bound(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                              const DiskShares& shares, std::int64_t block) {
  if (steps < 1) return 0;
  slots = std::min(slots, steps);
  const std::int64_t blocks = (steps + block - 1) / block;
  const std::int64_t shorter = steps / blocks, longer_ones = steps % blocks;
  const double before = (1 - shares.before) * times.forward * real(steps - 1);
  const double adjoints = (1 - shares.after) * times.adjoint * real(steps);
  const Relaxation relaxation(shorter + (longer_ones > 0 ? 1 : 0), slots,
                              (1 - shares.after) * times.forward, shares.before * times.write,
                              shares.after * times.write, shares.after * times.read);
  if (blocks == 1) return before + adjoints + relaxation.chain(steps, slots + 1, false);
  // A state in RAM at the first adjoint helps one block only.
  double per_pin = 0;
  for (const std::int64_t length : {shorter, shorter + (longer_ones > 0 ? 1 : 0)}) {
    for (std::int64_t pins = 1; pins <= slots + 1; ++pins) {
      const double saved = relaxation.chain(length, 0, true) - relaxation.chain(length, pins, true);
      per_pin = std::max(per_pin, saved / real(pins));
    }
  }
  double total = before + adjoints - real(slots + 1) * per_pin +
                 real(blocks - longer_ones) * relaxation.chain(shorter, 0, true);
  if (longer_ones > 0) total += real(longer_ones) * relaxation.chain(shorter + 1, 0, true);
  return total;
}

double overlapped_lower_bound(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                              std::int64_t block) {
  constexpr int kRefinements = 12;
  return most_of(
      [&](double before) {
        return most_of(
            [&](double after) {
              return overlapped_lower_bound(steps, slots, times, {before, after}, block);
            },
            kRefinements);
      },
      kRefinements);
}

}  // namespace anadrome::bench
