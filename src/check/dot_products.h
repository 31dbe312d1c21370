// SPDX-License-Identifier: BSD-2-Clause
// Dot-product tests of the adjoint of single steps: <w, F' v> = <F'^T w, v>.
//
// F' v is a central difference of the caller's step in a random direction v, of two sizes, so that
// it is known how good it is; F'^T w is what the caller's adjoint step makes of random adjoint
// variables w, less what it makes of none. Products are weighed against the size that they have
// where signs are random, the root of the sum of squares.
#pragma once

#include <anadrome/gradient.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "check/rehearsal.h"

namespace anadrome::engine {

/// A state field and its adjoint variable: floating-point arrays of the same number of elements.
struct FieldPair {
  store::Field state, adjoint;
};

/// "u=lambda v=mu". Throws ERR_ARGUMENT: a word that is no pair, a name that is no such field's,
/// fields that do not fit.
std::vector<FieldPair> parse_pairs(const std::string& text, std::span<const store::Field> state,
                                   std::span<const store::Field> adjoint);

/// The rounding error of one operation in the field's type; that of double for types without one.
double unit_round_off(anadrome_type type);
double unit_round_off(std::span<const store::Field> fields);

struct ProductOutcome {
  std::int64_t step = -1;
  anadrome_verdict verdict = ANADROME_VERDICT_UNDECIDED;
  anadrome_mismatch mismatch = ANADROME_MISMATCH_NONE;
  double relative = 0;  ///< of the difference, to the size of the products
  double allowed = 0;   ///< by the differences' own error
  double forward = 0, adjoint = 0;
  double ratio = 0;        ///< of these
  const char* state = "";  ///< MISMATCH_STATE: which one the adjoint step seems to read
  /// Of the first step that is wrong, where its adjoint step gives a wrong number; "" if not known.
  std::string field = {};
  std::size_t element = 0;
  std::int64_t rank = 0;
  bool alone = true;  ///< no other element is seen to be wrong
};

class DotProducts {
 public:
  /// May lack the memory. `mask`: see anadrome_gradient; may be empty.
  DotProducts(Rehearsal& rehearsal, std::vector<FieldPair> pairs, std::function<void()> mask);

  /// From x_0, which the arrays hold, the steps `tested`, rising, of `steps`. Collective; throws
  /// what a callback fails with.
  std::vector<ProductOutcome> test(std::span<const std::int64_t> tested, std::int64_t steps);

 private:
  static constexpr std::size_t kDirections = 2;
  /// Sums over all ranks for one pair of directions.
  struct Sums {
    double forward, forward_of_larger;  ///< <w, F' v> by two sizes of differences
    double squares;                     ///< of the terms of the first
    double adjoint;                     ///< <F'^T w, v>
    double taken_off_squares;           ///< of the terms of what was taken off
  };
  struct Judged {
    double relative, allowed;
    bool right, decided;
  };
  struct Part {  ///< of this rank's numbers
    std::size_t first, end;
  };
  using Values = std::vector<double>;

  ProductOutcome test_step(std::int64_t step, std::int64_t steps);
  void take_unperturbed_step(std::int64_t step);
  void measure_scales();
  void choose_directions(std::int64_t step, std::size_t direction);
  void difference_of_step(const FieldValues& from, std::int64_t step, double size, Part part);
  void adjoint_of(std::int64_t step, std::int64_t steps, bool with_w, Values& result);
  void prepare(std::int64_t step, std::int64_t steps, std::size_t direction);
  Sums products(const FieldValues& from, std::int64_t step, Part part);
  static double size_of(const Sums& sums);
  Judged judge(const Sums& sums) const;
  void name_mismatch(const std::array<Sums, kDirections>& sums, ProductOutcome& outcome);
  bool agrees_with_state(const FieldValues& other, std::int64_t step,
                         const std::array<Sums, kDirections>& sums);
  template <class PartOf>
  std::int64_t bisect(std::int64_t step, std::int64_t count, double& whole, double noise,
                      bool& alone, const PartOf& part_of);
  void name_element(const Sums& sums, ProductOutcome& outcome);
  void name_number(std::size_t number, ProductOutcome& outcome);

  Rehearsal& rehearsal_;
  std::vector<FieldPair> pairs_;
  std::function<void()> mask_;
  double unit_;
  std::vector<double> scales_;  ///< of the pairs: the root mean square of x_k and x_{k+1}
  std::size_t size_ = 0;        ///< real numbers in all pairs, on this rank
  FieldValues first_, at_, after_, tape_;
  Values x_, v_, w_, difference_, minus_, taken_off_, result_, sums_;
  bool named_ = false;  ///< an element of a step that is wrong
};

}  // namespace anadrome::engine
