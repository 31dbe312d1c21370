// SPDX-License-Identifier: BSD-2-Clause
#include "check/dot_products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <utility>

#include "base/index.h"

namespace anadrome::engine {
namespace {

constexpr double kSingle = 0x1p-24, kDouble = 0x1p-53;
constexpr double kLarger = 4;        // of the two sizes of differences
constexpr double kUndecided = 1e-1;  // where differences are no better, they say nothing

bool is_complex(anadrome_type type) {
  return type == ANADROME_COMPLEX64 || type == ANADROME_COMPLEX128;
}
bool is_single(anadrome_type type) {
  return type == ANADROME_FLOAT32 || type == ANADROME_COMPLEX64;
}
bool is_real_or_complex(anadrome_type type) {
  return is_complex(type) || is_single(type) || type == ANADROME_FLOAT64;
}

// Real numbers of a field.
std::size_t numbers_of(const store::Field& field) {
  return size(field.count) * (is_complex(field.type) ? 2 : 1);
}

void read(const store::Field& field, double* to) {
  const std::size_t count = numbers_of(field);
  if (is_single(field.type)) {
    const auto* const from = static_cast<const float*>(field.values);
    std::copy(from, from + count, to);
  } else if (count > 0) {
    std::memcpy(to, field.values, count * sizeof(double));
  }
}

void write(const store::Field& field, const double* from) {
  const std::size_t count = numbers_of(field);
  if (is_single(field.type)) {
    auto* const to = static_cast<float*>(field.values);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
  } else if (count > 0) {
    std::memcpy(field.values, from, count * sizeof(double));
  }
}

// Numbers in [-1, 1], the same wherever and whenever they are asked for. Source: Steele, Lea &
// Flood 2014 (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return real(static_cast<std::int64_t>(z)) * 0x1p-63;
  }

 private:
  std::uint64_t state_;
};

const store::Field& named(std::span<const store::Field> fields, const std::string& name,
                          const char* role) {
  for (const store::Field& field : fields) {
    if (field.name == name) return field;
  }
  throw Error(ANADROME_ERR_ARGUMENT,
              "check_gradient: pairs: there is no field '" + name + "' of role " + role);
}

void require_pair(const FieldPair& pair) {
  const std::string both =
      "check_gradient: pairs: '" + pair.state.name + "' and '" + pair.adjoint.name + "' ";
  if (pair.state.mover != nullptr || pair.adjoint.mover != nullptr) {
    throw Error(
        ANADROME_ERR_ARGUMENT,
        both + "are not both arrays of the host; leave packed fields and those on a device out");
  }
  const bool alike = is_complex(pair.state.type) == is_complex(pair.adjoint.type);
  if (!is_real_or_complex(pair.state.type) || !is_real_or_complex(pair.adjoint.type) || !alike) {
    throw Error(ANADROME_ERR_ARGUMENT, both + "are not both real or both complex");
  }
  if (pair.state.count != pair.adjoint.count) {
    throw Error(ANADROME_ERR_ARGUMENT, both + "have " + std::to_string(pair.state.count) + " and " +
                                           std::to_string(pair.adjoint.count) + " elements");
  }
}

}  // namespace

std::vector<FieldPair> parse_pairs(const std::string& text, std::span<const store::Field> state,
                                   std::span<const store::Field> adjoint) {
  std::vector<FieldPair> pairs;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      throw Error(ANADROME_ERR_ARGUMENT, "check_gradient: pairs: '" + word +
                                             "' is no pair; write state=adjoint, as in "
                                             "\"u=lambda v=mu\"");
    }
    const FieldPair pair = {named(state, word.substr(0, equals), "STATE"),
                            named(adjoint, word.substr(equals + 1), "ADJOINT")};
    require_pair(pair);
    for (const FieldPair& other : pairs) {
      if (other.state.name != pair.state.name && other.adjoint.name != pair.adjoint.name) continue;
      throw Error(ANADROME_ERR_ARGUMENT,
                  "check_gradient: pairs: '" + word + "' has a field that is in a pair already");
    }
    pairs.push_back(pair);
  }
  return pairs;
}

double unit_round_off(anadrome_type type) { return is_single(type) ? kSingle : kDouble; }

double unit_round_off(std::span<const store::Field> fields) {
  double unit = kDouble;
  for (const store::Field& field : fields) unit = std::max(unit, unit_round_off(field.type));
  return unit;
}

// ---- steps ----

DotProducts::DotProducts(Rehearsal& rehearsal, std::vector<FieldPair> pairs,
                         std::function<void()> mask)
    : rehearsal_(rehearsal),
      pairs_(std::move(pairs)),
      mask_(std::move(mask)),
      unit_(kDouble),
      scales_(pairs_.size()),
      first_(rehearsal.state()),
      at_(rehearsal.state()),
      after_(rehearsal.state()),
      tape_(rehearsal.tape()) {
  for (const FieldPair& pair : pairs_) {
    size_ += numbers_of(pair.state);
    unit_ = std::max({unit_, unit_round_off(pair.state.type), unit_round_off(pair.adjoint.type)});
  }
  for (Values* const values : {&x_, &v_, &w_, &difference_, &minus_, &taken_off_, &result_}) {
    values->resize(size_);
  }
  sums_.resize(3 * pairs_.size());
}

namespace {

// Visits each pair with the place of its numbers.
template <class Visit>
void visit(const std::vector<FieldPair>& pairs, const Visit& body) {
  std::size_t place = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    body(p, pairs[p], place);
    place += numbers_of(pairs[p].state);
  }
}

using Side = store::Field FieldPair::*;

void read_all(const std::vector<FieldPair>& pairs, Side side, std::vector<double>& to) {
  visit(pairs, [&](std::size_t, const FieldPair& pair, std::size_t place) {
    read(pair.*side, to.data() + place);
  });
}

void write_all(const std::vector<FieldPair>& pairs, Side side, const std::vector<double>& from) {
  visit(pairs, [&](std::size_t, const FieldPair& pair, std::size_t place) {
    write(pair.*side, from.data() + place);
  });
}

}  // namespace

std::vector<ProductOutcome> DotProducts::test(std::span<const std::int64_t> tested,
                                              std::int64_t steps) {
  std::vector<ProductOutcome> outcomes;
  rehearsal_.attempt([&] {
    outcomes.reserve(tested.size());
    first_.keep();
  });
  rehearsal_.agree();
  std::int64_t at = 0;
  for (const std::int64_t step : tested) {
    rehearsal_.advance(at, step);
    at = step;
    outcomes.push_back(test_step(step, steps));
    rehearsal_.agree();
  }
  return outcomes;
}

// x_k is in the arrays, and is there again afterwards.
ProductOutcome DotProducts::test_step(std::int64_t step, std::int64_t steps) {
  rehearsal_.attempt([&] { at_.keep(); });
  take_unperturbed_step(step);
  measure_scales();
  adjoint_of(step, steps, false, taken_off_);
  std::array<Sums, kDirections> sums{};
  ProductOutcome outcome;
  outcome.step = step;
  std::size_t worst = 0;
  bool wrong = false, right = false, decided = false;
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    prepare(step, steps, direction);
    sums[direction] = products(at_, step, {0, size_});
    const Judged judged = judge(sums[direction]);
    wrong = wrong || (judged.decided && !judged.right);
    right = right || (judged.decided && judged.right);
    const bool less = judged.relative <= outcome.relative;
    if (direction > 0 && (decided == judged.decided ? less : decided)) continue;
    decided = judged.decided;
    worst = direction;
    outcome.relative = judged.relative;
    outcome.allowed = judged.allowed;
    outcome.forward = sums[direction].forward;
    outcome.adjoint = sums[direction].adjoint;
  }
  if (outcome.forward != 0) outcome.ratio = outcome.adjoint / outcome.forward;
  if (wrong) {
    outcome.verdict = ANADROME_VERDICT_WRONG;
    name_mismatch(sums, outcome);
    const bool in_places = outcome.mismatch == ANADROME_MISMATCH_TERM ||
                           outcome.mismatch == ANADROME_MISMATCH_NOT_FINITE;
    if (in_places && !std::exchange(named_, true)) {
      prepare(step, steps, worst);
      name_element(sums[worst], outcome);
    }
  } else if (right) {
    outcome.verdict = ANADROME_VERDICT_RIGHT;
  }
  rehearsal_.attempt([&] { at_.restore(); });
  return outcome;
}

// Its end is x_{k+1}; with tape fields it fills them.
void DotProducts::take_unperturbed_step(std::int64_t step) {
  read_all(pairs_, &FieldPair::state, x_);
  if (rehearsal_.has_tape()) {
    rehearsal_.record(step);
  } else {
    rehearsal_.advance(step, step + 1);
  }
  rehearsal_.attempt([&] {
    after_.keep();
    tape_.keep();
  });
}

// The size of a field that is 0 now may be seen in what it becomes.
void DotProducts::measure_scales() {
  read_all(pairs_, &FieldPair::state, result_);
  std::span<double> sums = sums_;
  std::ranges::fill(sums, 0);
  visit(pairs_, [&](std::size_t p, const FieldPair& pair, std::size_t place) {
    const std::size_t end = place + numbers_of(pair.state);
    for (std::size_t i = place; i < end; ++i) {
      sums[3 * p] += x_[i] * x_[i];
      sums[3 * p + 1] += result_[i] * result_[i];
    }
    sums[3 * p + 2] = static_cast<double>(end - place);
  });
  rehearsal_.ranks().sum(sums);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const double squares = std::max(sums[3 * p], sums[3 * p + 1]);
    const double scale = std::sqrt(squares / std::max(sums[3 * p + 2], 1.0));
    scales_[p] = scale > 0 && std::isfinite(scale) ? scale : 1;
  }
}

// The first direction perturbs all elements of a field by as much, the second one each by its own
// size: elements that are much smaller than the others are perturbed too far by the first.
void DotProducts::choose_directions(std::int64_t step, std::size_t direction) {
  const auto rank = static_cast<std::uint64_t>(rehearsal_.ranks().rank());
  Random random(static_cast<std::uint64_t>(step) * 0x100000001b3U +
                (rank * kDirections + direction) * 0xd1342543de82ef95U);
  visit(pairs_, [&](std::size_t p, const FieldPair& pair, std::size_t place) {
    const std::size_t end = place + numbers_of(pair.state);
    for (std::size_t i = place; i < end; ++i) {
      const bool by_itself = direction > 0 && x_[i] != 0 && std::isfinite(x_[i]);
      v_[i] = random.next() * (by_itself ? std::abs(x_[i]) : scales_[p]);
      w_[i] = random.next() / scales_[p];
    }
  });
  if (!mask_) return;
  write_all(pairs_, &FieldPair::state, v_);
  write_all(pairs_, &FieldPair::adjoint, w_);
  mask_();
  read_all(pairs_, &FieldPair::state, v_);
  read_all(pairs_, &FieldPair::adjoint, w_);
}

// In the numbers of this part of the direction.
void DotProducts::difference_of_step(const FieldValues& from, std::int64_t step, double size,
                                     Part part) {
  for (const double sign : {1.0, -1.0}) {
    Values& end = sign > 0 ? difference_ : minus_;
    rehearsal_.attempt([&] { from.restore(); });
    read_all(pairs_, &FieldPair::state, end);
    for (std::size_t i = part.first; i < part.end; ++i) end[i] += sign * size * v_[i];
    write_all(pairs_, &FieldPair::state, end);
    rehearsal_.advance(step, step + 1);
    read_all(pairs_, &FieldPair::state, end);
  }
  for (std::size_t i = 0; i < size_; ++i) {
    difference_[i] = (difference_[i] - minus_[i]) / (2 * size);
  }
}

// As in a reverse sweep: the last step that was run is not this one, where there is another.
void DotProducts::adjoint_of(std::int64_t step, std::int64_t steps, bool with_w, Values& result) {
  rehearsal_.attempt([&] { after_.restore(); });
  if (step + 1 < steps) rehearsal_.advance(step + 1, step + 2);
  if (rehearsal_.has_tape()) {
    rehearsal_.attempt([&] { tape_.restore(); });
  } else {
    rehearsal_.attempt([&] { at_.restore(); });
  }
  rehearsal_.restore_entry_of_adjoint();
  if (!with_w) std::fill(result.begin(), result.end(), 0);
  write_all(pairs_, &FieldPair::adjoint, with_w ? w_ : result);
  rehearsal_.adjoint(step);
  read_all(pairs_, &FieldPair::adjoint, result);
}

// The directions, and in `result_` what the adjoint step makes of them.
void DotProducts::prepare(std::int64_t step, std::int64_t steps, std::size_t direction) {
  choose_directions(step, direction);
  adjoint_of(step, steps, true, result_);
  for (std::size_t i = 0; i < size_; ++i) result_[i] -= taken_off_[i];
}

DotProducts::Sums DotProducts::products(const FieldValues& from, std::int64_t step, Part part) {
  const double size = std::cbrt(unit_);
  std::array<double, 5> sums{};
  difference_of_step(from, step, size, part);
  for (std::size_t i = 0; i < size_; ++i) {
    const double term = w_[i] * difference_[i];
    sums[0] += term;
    sums[2] += term * term;
  }
  difference_of_step(from, step, kLarger * size, part);
  for (std::size_t i = 0; i < size_; ++i) sums[1] += w_[i] * difference_[i];
  for (std::size_t i = part.first; i < part.end; ++i) {
    sums[3] += result_[i] * v_[i];
    sums[4] += taken_off_[i] * taken_off_[i] * v_[i] * v_[i];
  }
  rehearsal_.ranks().sum(sums);
  return {sums[0], sums[1], sums[2], sums[3], sums[4]};
}

// ---- what they say ----

double DotProducts::size_of(const Sums& sums) {
  return std::max({std::abs(sums.forward), std::abs(sums.adjoint), std::sqrt(sums.squares)});
}

DotProducts::Judged DotProducts::judge(const Sums& sums) const {
  if (!std::isfinite(sums.adjoint)) return {INFINITY, 0, false, true};
  if (!std::isfinite(sums.forward) || !std::isfinite(sums.forward_of_larger)) {
    return {INFINITY, INFINITY, false, false};
  }
  const double size = size_of(sums);
  if (size == 0) return {0, 0, true, true};
  const double differences = std::abs(sums.forward - sums.forward_of_larger) / size;
  const double taken_off = unit_ * std::sqrt(sums.taken_off_squares) / size;
  // The round-off of a central difference of the best size is about unit^(2/3).
  const double allowed =
      std::max({100 * std::cbrt(unit_ * unit_), 10 * differences, 100 * taken_off});
  const double relative = std::abs(sums.forward - sums.adjoint) / size;
  return {relative, allowed, relative <= allowed, relative > allowed || allowed <= kUndecided};
}

bool DotProducts::agrees_with_state(const FieldValues& other, std::int64_t step,
                                    const std::array<Sums, kDirections>& sums) {
  bool agrees = true;
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    choose_directions(step, direction);
    Sums there = products(other, step, {0, size_});
    there.adjoint = sums[direction].adjoint;
    there.taken_off_squares = sums[direction].taken_off_squares;
    const Judged judged = judge(there);
    agrees = agrees && judged.decided && judged.right;
  }
  return agrees;
}

// Steps of other states are run only where a product failed.
void DotProducts::name_mismatch(const std::array<Sums, kDirections>& sums,
                                ProductOutcome& outcome) {
  outcome.mismatch = ANADROME_MISMATCH_TERM;
  double least = std::numeric_limits<double>::infinity(), most = -least, error = 0;
  for (const Sums& each : sums) {
    const Judged judged = judge(each);
    if (!std::isfinite(each.adjoint)) {
      outcome.mismatch = ANADROME_MISMATCH_NOT_FINITE;
      return;
    }
    const double ratio = each.adjoint / each.forward;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
    error += judged.allowed * size_of(each) / std::abs(each.forward);
  }
  if (most - least <= error) {
    const bool sign = std::abs(most + 1) <= error;
    outcome.mismatch = sign ? ANADROME_MISMATCH_SIGN : ANADROME_MISMATCH_FACTOR;
    return;
  }
  const std::array<std::pair<const FieldValues*, const char*>, 2> others = {
      {{&after_, "x_{k+1}"}, {&first_, "x_0"}}};
  for (const auto& [other, name] : others) {
    if (!agrees_with_state(*other, outcome.step, sums)) continue;
    outcome.mismatch = ANADROME_MISMATCH_STATE;
    outcome.state = name;
    return;
  }
}

// ---- where it shows ----

// Which of `count` parts has a large share of the difference: that of the larger half, and so on.
template <class PartOf>
std::int64_t DotProducts::bisect(std::int64_t step, std::int64_t count, double& whole, double noise,
                                 bool& alone, const PartOf& part_of) {
  std::int64_t first = 0, end = count;
  while (end - first > 1) {
    const std::int64_t middle = first + (end - first) / 2;
    const Sums sums = products(at_, step, part_of(first, middle));
    const double half = sums.forward - sums.adjoint, rest = whole - half;
    alone = alone && std::min(std::abs(half), std::abs(rest)) <= noise;
    const bool is_half = std::abs(half) >= std::abs(rest);
    (is_half ? end : first) = middle;
    whole = is_half ? half : rest;
  }
  return first;
}

// Costs four steps for each bit of the number of elements.
void DotProducts::name_element(const Sums& sums, ProductOutcome& outcome) {
  Ranks& ranks = rehearsal_.ranks();
  const std::int64_t here = ranks.rank();
  std::int64_t number = 0;  // among this rank's
  if (outcome.mismatch == ANADROME_MISMATCH_NOT_FINITE) {
    const auto at = std::ranges::find_if(result_, [](double each) { return !std::isfinite(each); });
    std::array lowest = {at != result_.end() ? -here : -ranks.size()};
    ranks.largest(lowest);
    outcome.rank = -lowest[0];
    outcome.alone = false;
    number = at - result_.begin();
  } else {
    double whole = sums.forward - sums.adjoint;
    const double noise = judge(sums).allowed * size_of(sums);
    outcome.rank = bisect(outcome.step, ranks.size(), whole, noise, outcome.alone,
                          [&](std::int64_t first, std::int64_t end) {
                            return Part{0, first <= here && here < end ? size_ : 0};
                          });
    const auto part_of = [&](std::int64_t first, std::int64_t end) {
      if (here != outcome.rank) return Part{0, 0};
      return Part{std::min(size(first), size_), std::min(size(end), size_)};
    };
    std::array most = {std::ssize(x_)};
    ranks.largest(most);
    number = bisect(outcome.step, most[0], whole, noise, outcome.alone, part_of);
    const Judged judged = judge(products(at_, outcome.step, part_of(number, number + 1)));
    if (judged.right || !judged.decided) return;  // many that are wrong by little
  }
  name_number(size(number), outcome);
}

// As its rank knows.
void DotProducts::name_number(std::size_t number, ProductOutcome& outcome) {
  std::array<std::size_t, 2> found{};
  visit(pairs_, [&](std::size_t p, const FieldPair& pair, std::size_t place) {
    if (number >= place) found = {p, (number - place) / (is_complex(pair.state.type) ? 2U : 1U)};
  });
  Ranks& ranks = rehearsal_.ranks();
  ranks.broadcast(std::as_writable_bytes(std::span(found)), static_cast<int>(outcome.rank));
  if (ranks.size() == 1) outcome.rank = -1;
  outcome.field = pairs_[found[0]].adjoint.name;
  outcome.element = found[1];
}

}  // namespace anadrome::engine
