// SPDX-License-Identifier: BSD-2-Clause
// A small nonlinear model for tests. Every step mixes a sum over all ranks into every element, so
// that one wrong byte on one rank soon shows on all.
#pragma once

#include <anadrome/anadrome.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anadrome::test {

std::uint64_t mix(std::uint64_t x);  ///< splitmix64

/// Elements on one rank, by field.
struct Counts {
  std::size_t float32s = 0, complexes = 0, int64s = 0, bytes = 0, packed_bytes = 0;
};

using Bytes = std::vector<std::byte>;

/// Fields that are exchanged instead of registered: a sum of these.
enum Exchanged : unsigned {
  kNoField = 0,
  kFloat32s = 1,
  kComplexes = 2,
  kInt64s = 4,
  kBytes = 8,
  kAllFields = 15
};

class CoupledModel {
 public:
  /// With `tape`, step k's adjoint needs a tape that a recorded step fills.
  CoupledModel(MPI_Comm comm, const Counts& counts, bool tape = false);
  CoupledModel(const CoupledModel&) = delete;
  CoupledModel& operator=(const CoupledModel&) = delete;

  /// Register state, tape and adjoint fields; only those that have elements on some rank.
  anadrome_status add_fields(anadrome_run* run);

  // Exchanged fields: the arrays of this model are then only where a step computes.
  unsigned exchanged = kNoField;       ///< for the next add_fields
  bool take_now(anadrome_run* run);    ///< now -> arrays; false: it is missing
  bool put_then(anadrome_run* run);    ///< arrays -> then; false: it is missing
  bool spoil_then(anadrome_run* run);  ///< a NaN in every element, to show what is not written
  bool no_now(anadrome_run* run) const;
  bool no_then(anadrome_run* run) const;
  std::uint64_t sum_of_now(anadrome_run* run) const;

  void start();  ///< x_0
  /// x_step -> x_{step+1}; collective.
  void step(std::int64_t step);
  void record(std::int64_t step);  ///< the same, and fill the tape
  void scramble_state();
  void scramble_tape();
  void touch_adjoint(std::int64_t step);  ///< what an adjoint step does to its own variables

  Bytes state() const;
  const std::vector<std::int64_t>& tape() const { return tape_; }
  const std::vector<double>& adjoint() const { return adjoint_; }
  bool has_tape() const { return !tape_.empty(); }
  std::size_t state_bytes() const { return state().size(); }
  MPI_Comm comm() const { return comm_; }

  /// Ranks exchange their sums in every step whose number this divides.
  std::int64_t couple_every = 1;
  /// Pack and unpack meet: one that is not called on some rank leaves the others waiting.
  bool callbacks_meet = false;
  /// Non-zero: what the next call of pack or unpack on this rank returns.
  int pack_returns = 0, unpack_returns = 0;

 private:
  struct Place {
    int field;
    void* array;
    std::size_t bytes;
  };
  static int pack(void* context, void* buffer, std::size_t bytes);
  static int unpack(void* context, const void* buffer, std::size_t bytes);
  std::uint64_t local_sum() const;

  MPI_Comm comm_;
  int rank_ = 0;
  Counts most_;  ///< the maxima over ranks
  std::vector<float> float32s_;
  std::vector<std::complex<double>> complexes_;
  std::vector<std::int64_t> int64s_;
  std::vector<unsigned char> bytes_, packed_;
  std::vector<std::int64_t> tape_;
  std::vector<double> adjoint_;
  std::vector<Place> places_;  ///< by exchanged field, as add_fields numbered them
};

/// All states and tapes of a sweep, kept in arrays of the test.
class Reference {
 public:
  Reference(CoupledModel& model, std::int64_t steps);
  const Bytes& state(std::int64_t step) const { return states_[static_cast<std::size_t>(step)]; }
  const std::vector<std::int64_t>& tape(std::int64_t step) const {
    return tapes_[static_cast<std::size_t>(step)];
  }

 private:
  std::vector<Bytes> states_;
  std::vector<std::vector<std::int64_t>> tapes_;
};

}  // namespace anadrome::test
