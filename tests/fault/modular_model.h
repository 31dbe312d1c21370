// SPDX-License-Identifier: BSD-2-Clause
// A model in arithmetic modulo 2^64, where derivatives are exact and no wrong bit dies out: the
// gradient of a run is right bit by bit, or it is visibly wrong. Ranks are coupled in every step.
#pragma once

#include <anadrome/anadrome.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace anadrome::test {

/// How the state is made known to the library.
enum class Registered { kArray, kExchanged, kPacked };

struct ModelShape {
  std::size_t words = 1;  ///< of 8 bytes, in each field on this rank
  std::size_t fields = 1;
  Registered registered = Registered::kArray;
  bool adjoint_fields = false;  ///< register what the reverse sweep carries along
  bool coupled = true;          ///< every step needs all ranks
  bool sparse = false;          ///< seven words of eight stay 0, which codecs make shorter
};

class ModularModel {
 public:
  ModularModel(MPI_Comm comm, const ModelShape& shape);
  ModularModel(const ModularModel&) = delete;
  ModularModel& operator=(const ModularModel&) = delete;

  anadrome_status add_fields(anadrome_run* run);

  /// x_0, and an adjoint that holds nothing yet.
  void start();
  /// The state into the place that exchanged fields have for it: also x_0 after begin. False: there
  /// is none.
  bool put_then(anadrome_run* run);
  void step(std::int64_t step);
  /// x_{step+1} becomes a guess of x_step, once gradient_with_every_state_kept was called.
  void undo(std::int64_t step);
  void turn();
  void clear_adjoint();  ///< what the adjoint steps added up begins anew
  void adjoint(std::int64_t step);
  /// Does `action`; with exchanged fields the state is the library's. False: the library broke its
  /// word (no address for a live state, no such action).
  bool act(anadrome_run* run, const anadrome_action& action);
  /// A sweep without the library.
  std::uint64_t gradient_with_every_state_kept(std::int64_t steps);

  /// The hash of the adjoint, the derivatives by the parameters, and x_0; complete at DONE.
  std::uint64_t gradient() const;
  std::uint64_t state_hash() const;
  /// The state, by field.
  std::vector<std::span<const std::uint64_t>> fields() const;
  const MPI_Comm& comm() const { return comm_; }

  /// Non-zero: what the next call of pack or unpack returns.
  int pack_returns = 0, unpack_returns = 0;
  /// Called with every action, before it is carried out.
  std::function<void(const anadrome_action&)> before_action;
  bool leaves = false;  ///< does not carry it out: the sweep is left there

 private:
  bool take_now(anadrome_run* run);
  static int pack(void* context, void* buffer, std::size_t bytes);
  static int unpack(void* context, const void* buffer, std::size_t bytes);
  std::uint64_t sum_over_ranks(std::uint64_t value) const;

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  ModelShape shape_;
  std::vector<std::uint64_t> state_;  ///< the fields one after another
  std::vector<std::uint64_t> lambda_, by_parameter_;
  std::vector<int> places_;                         ///< by exchanged field
  std::vector<std::vector<std::uint64_t>> states_;  ///< that were kept
};

/// How a sweep went on this rank.
struct SweepResult {
  anadrome_status status = ANADROME_OK;
  std::string message;
  bool done = false;
  bool resumed = false;       ///< went on with what an earlier process left
  bool kept_its_word = true;  ///< every action was one that can be carried out
  std::uint64_t gradient = 0;
};

/// begin, and every action to DONE or to an error.
SweepResult sweep(anadrome_run* run, ModularModel& model, std::int64_t steps, bool unknown);

}  // namespace anadrome::test
