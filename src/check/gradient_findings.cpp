// SPDX-License-Identifier: BSD-2-Clause
#include "check/gradient_findings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/text_out.h"

namespace anadrome::engine {
namespace {

static_assert(sizeof(anadrome_gradient_check::slope) == ANADROME_MOST_SEEDS * sizeof(double));

std::string scientific(double number, int digits) {
  return format_number(number, std::chars_format::scientific, digits);
}

// "-1" or "2.0013": a ratio with as many digits as tell.
std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "not a number";
  return std::abs(ratio) < 1e4 && (std::abs(ratio) > 1e-3 || ratio == 0) ? format_fixed(ratio, 4)
                                                                         : scientific(ratio, 3);
}

std::string slope_text(double slope) {
  return slope == 0 ? "-" : format_number(slope, std::chars_format::fixed, 2);
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

std::string looks_like(anadrome_mismatch mismatch, double ratio, const char* state) {
  switch (mismatch) {
    case ANADROME_MISMATCH_SIGN:
      return "a wrong sign (ratio -1)";
    case ANADROME_MISMATCH_FACTOR:
      return "a factor of " + ratio_text(ratio);
    case ANADROME_MISMATCH_STATE:
      return std::string("it reads ") + state + " in place of x_k";
    case ANADROME_MISMATCH_NOT_FINITE:
      return "not a finite number";
    default:
      return "a term is missing or wrong (the ratio differs from direction to direction)";
  }
}

std::string place_of(const ProductOutcome& product) {
  if (product.field.empty()) return "";
  return ", in element " + std::to_string(product.element) + " of " + product.field +
         " (the first is 0)" +
         (product.rank < 0 ? "" : " on rank " + std::to_string(product.rank)) +
         (product.alone ? " and in no other" : " and maybe in others");
}

std::string line_of(const ProductOutcome& product) {
  return "step " + std::to_string(product.step) +
         ": <w, F' v> = " + scientific(product.forward, 6) + ", the adjoint step gives " +
         scientific(product.adjoint, 6) + ": " +
         looks_like(product.mismatch, product.ratio, product.state) + place_of(product);
}

// The same ratio in every direction; 0 if there is none.
double common_ratio(const anadrome_gradient_check& check) {
  const double first = check.ratio[0];
  for (std::int64_t i = 0; i < check.seeds; ++i) {
    if (!(std::abs(check.ratio[i] - first) <= 1e-3 * std::abs(first))) return 0;
  }
  return first;
}

const char* name_of(std::int32_t verdict) {
  switch (verdict) {
    case ANADROME_VERDICT_RIGHT:
      return "right";
    case ANADROME_VERDICT_WRONG:
      return "WRONG";
    case ANADROME_VERDICT_UNDECIDED:
      return "undecided";
    default:
      return "not tested";
  }
}

std::string slopes_of(const anadrome_gradient_check& check) {
  std::string slopes;
  for (std::int64_t i = 0; i < check.seeds; ++i) slopes += " " + slope_text(check.slope[i]);
  return slopes;
}

std::string message_of_taylor(anadrome_gradient_check& check) {
  for (std::int64_t i = 0; i < check.seeds; ++i) {
    if (std::isfinite(check.derivative[i])) continue;
    check.mismatch = ANADROME_MISMATCH_NOT_FINITE;
    return "the gradient is not finite: derivative gave " + std::to_string(check.derivative[i]) +
           "; look at the adjoint fields after turn, and then after the adjoint of each step";
  }
  std::string message = "the Taylor test fails, slopes" + slopes_of(check) + " in place of 2: ";
  const double ratio = common_ratio(check);
  const bool differs = ratio == 0 || std::abs(ratio - 1) <= 1e-3;
  check.mismatch = differs                       ? ANADROME_MISMATCH_TERM
                   : std::abs(ratio + 1) <= 1e-3 ? ANADROME_MISMATCH_SIGN
                                                 : ANADROME_MISMATCH_FACTOR;
  message += looks_like(static_cast<anadrome_mismatch>(check.mismatch), ratio, "");
  if (check.products > 0) {
    message += "; the dot products of " + std::to_string(check.products) +
               " steps agree, so look at what the adjoint adds to the gradient, at turn, at "
               "derivative, at the other steps; is every field that a step needs registered, and "
               "the objective complete when the forward sweep ends?";
  }
  return message;
}

// A constant objective tells nothing of a gradient, unless that is 0.
bool is_constant(const GradientFindings& findings) {
  const TaylorRemainders remainders(findings.objective, findings.noise, findings.unit);
  for (const TaylorSeries& series : findings.series) {
    for (std::size_t i = 0; i < series.epsilon.size(); ++i) {
      if (remainders.difference(series, i) != 0) return false;
    }
  }
  return !findings.series.empty();
}

// A sum over ranks may have another order each time; what a hidden variable does is round-off to a
// measurement of round-off.
bool differs(const GradientFindings& findings, double objective) {
  const double size = std::max(std::abs(findings.objective), std::abs(objective));
  const double noise = std::min(100 * findings.noise, 1e-6 * size);
  const double difference = std::abs(objective - findings.objective);
  return !(difference <= std::max(noise, 1e4 * findings.unit * size));
}

std::int64_t undecided_in(const GradientFindings& findings) {
  return std::count_if(findings.products.begin(), findings.products.end(),
                       [](const auto& each) { return each.verdict == ANADROME_VERDICT_UNDECIDED; });
}

std::string message_of(const GradientFindings& findings, anadrome_gradient_check& check) {
  if (check.mismatch == ANADROME_MISMATCH_OBJECTIVE) {
    return "the same controls gave the objective " + scientific(findings.objective, 15) +
           " and later " + scientific(findings.repeated, 15) +
           ": perturb with epsilon 0 does not give them back, or a step reads what no field and "
           "no control is";
  }
  if (check.failing_step >= 0) {
    const auto failing = std::find_if(
        findings.products.begin(), findings.products.end(),
        [](const ProductOutcome& each) { return each.verdict == ANADROME_VERDICT_WRONG; });
    check.mismatch = failing->mismatch;
    return "the dot product fails at " + std::to_string(check.failing_products) + " of " +
           std::to_string(check.products) + " steps, first at " + line_of(*failing) +
           (check.taylor_verdict == ANADROME_VERDICT_RIGHT
                ? "; the Taylor test passes: if that is a halo, set halos to zero in `mask`"
                : "");
  }
  if (differs(findings, findings.after_reverse) && check.taylor_verdict != ANADROME_VERDICT_RIGHT) {
    return "undecided: the objective changes in the reverse sweep: it was " +
           scientific(findings.objective, 6) + " after the forward sweep and " +
           scientific(findings.after_reverse, 6) +
           " after the reverse sweep; sum it in the forward sweep alone";
  }
  if (is_constant(findings)) {
    return "undecided: the objective does not change with the controls: is it complete when the "
           "forward sweep ends? (a sum in the reverse sweep is not)";
  }
  if (check.taylor_verdict == ANADROME_VERDICT_WRONG) return message_of_taylor(check);
  const std::string taylor = "Taylor slopes" + slopes_of(check) + " (2 is right, - round-off)";
  std::string products = "dot products were not tested";
  if (check.product_verdict == ANADROME_VERDICT_RIGHT) {
    products = "dot products of " + std::to_string(check.products) + " steps agree to " +
               scientific(check.product_mismatch, 1);
  } else if (check.products > 0) {
    products = "dot products are undecided at " + std::to_string(undecided_in(findings)) + " of " +
               std::to_string(check.products) +
               " steps: they are not smooth, or read what no field is";
  }
  if (check.verdict == ANADROME_VERDICT_RIGHT) {
    return "the gradient is right: " + taylor + "; " + products;
  }
  return "undecided: " + taylor +
         "; round-off hides the answer, or the objective is not smooth, or does not depend on the "
         "controls: try another epsilon or fewer steps; " +
         products;
}

anadrome_verdict together(bool wrong, bool right) {
  return wrong   ? ANADROME_VERDICT_WRONG
         : right ? ANADROME_VERDICT_RIGHT
                 : ANADROME_VERDICT_UNDECIDED;
}

void judge_products(const GradientFindings& findings, anadrome_gradient_check& check) {
  check.products = std::ssize(findings.products);
  check.failing_step = -1;
  std::int64_t right = 0;
  for (const ProductOutcome& product : findings.products) {
    if (product.verdict == ANADROME_VERDICT_RIGHT) ++right;
    if (product.verdict == ANADROME_VERDICT_WRONG) {
      ++check.failing_products;
      if (check.failing_step >= 0) continue;
      check.failing_step = product.step;
      check.product_mismatch = product.relative;
      check.forward_product = product.forward;
      check.adjoint_product = product.adjoint;
    } else if (check.failing_step < 0 && product.verdict == ANADROME_VERDICT_RIGHT) {
      check.product_mismatch = std::max(check.product_mismatch, product.relative);
    }
  }
  if (check.products > 0)
    check.product_verdict = together(check.failing_step >= 0, 2 * right > check.products);
}

void judge_series(const GradientFindings& findings, anadrome_gradient_check& check) {
  const TaylorRemainders remainders(findings.objective, findings.noise, findings.unit);
  check.objective = findings.objective;
  check.seeds = std::ssize(findings.series);
  check.resolution = 1;
  bool wrong = false, right = false;
  for (std::size_t i = 0; i < findings.series.size(); ++i) {
    const TaylorOutcome outcome = remainders.judge(findings.series[i]);
    check.derivative[i] = findings.series[i].derivative;
    check.slope[i] = outcome.slope;
    check.first_slope[i] = outcome.first_slope;
    check.ratio[i] = outcome.ratio;
    check.resolution = std::min(check.resolution, outcome.resolution);
    wrong = wrong || outcome.verdict == ANADROME_VERDICT_WRONG;
    right = right || outcome.verdict == ANADROME_VERDICT_RIGHT;
  }
  const bool constant = is_constant(findings);
  // The gradient is that of the whole sum, the differences are those of what was there at TURN.
  const bool known = !constant && !differs(findings, findings.after_reverse);
  check.taylor_verdict = together(wrong && known, right && !constant);
}

}  // namespace

anadrome_gradient_check result_of(const GradientFindings& findings) {
  anadrome_gradient_check check = {};
  check.size = sizeof check;
  judge_series(findings, check);
  judge_products(findings, check);
  if (differs(findings, findings.repeated)) check.mismatch = ANADROME_MISMATCH_OBJECTIVE;
  const bool wrong = check.mismatch != ANADROME_MISMATCH_NONE ||
                     check.taylor_verdict == ANADROME_VERDICT_WRONG ||
                     check.product_verdict == ANADROME_VERDICT_WRONG;
  check.verdict = together(wrong, check.taylor_verdict == ANADROME_VERDICT_RIGHT);
  const std::string message = message_of(findings, check);
  std::strncpy(check.message, message.c_str(), sizeof check.message - 1);
  return check;
}

namespace {

// Of the first products that are not right.
std::string lines_of(const std::vector<ProductOutcome>& products) {
  constexpr std::int64_t kMost = 5;
  std::int64_t count = 0;
  std::string lines;
  for (const ProductOutcome& product : products) {
    if (product.verdict == ANADROME_VERDICT_RIGHT || ++count > kMost) continue;
    lines += "    " +
             (product.verdict == ANADROME_VERDICT_WRONG
                  ? line_of(product)
                  : "step " + std::to_string(product.step) +
                        ": undecided, two sizes of differences do not agree") +
             "\n";
  }
  if (count > kMost) lines += "    and " + std::to_string(count - kMost) + " more\n";
  return lines;
}

}  // namespace

std::string report_of(const GradientFindings& findings, const anadrome_gradient_check& check) {
  std::string text = "anadrome: check of a gradient over " + std::to_string(findings.steps) +
                     (findings.steps == 1 ? " step on " : " steps on ") +
                     std::to_string(findings.ranks) +
                     (findings.ranks == 1 ? " rank\n" : " ranks\n");
  text += "  objective " + scientific(findings.objective, 9) + ", its round-off about " +
          scientific(findings.noise, 1) + "\n";
  const TaylorRemainders remainders(findings.objective, findings.noise, findings.unit);
  text += "  seed    epsilon  |J(m+e dm)-J(m)|  |... - e dJ|   slope\n";
  for (std::size_t s = 0; s < findings.series.size(); ++s) {
    const TaylorSeries& series = findings.series[s];
    for (std::size_t i = 0; i < series.epsilon.size(); ++i) {
      const double remainder = remainders.remainder(series, i);
      const bool has_slope = i > 0 && remainder > 0 && remainders.remainder(series, i - 1) > 0;
      const double slope = has_slope ? std::log(remainders.remainder(series, i - 1) / remainder) /
                                           std::log(series.epsilon[i - 1] / series.epsilon[i])
                                     : 0;
      text += padded(i == 0 ? std::to_string(s + 1) : "", 6) +
              padded(scientific(series.epsilon[i], 1), 11) +
              padded(scientific(remainders.difference(series, i), 3), 18) +
              padded(scientific(remainder, 3), 14) +
              padded(has_slope && std::isfinite(slope) ? slope_text(slope) : "", 8) + "\n";
    }
    text += "        dJ = " + scientific(series.derivative, 9) + ", over that by differences " +
            ratio_text(check.ratio[s]) + "; slope " + slope_text(check.slope[s]) + "\n";
  }
  text += std::string("  Taylor tests: ") + name_of(check.taylor_verdict);
  if (check.taylor_verdict == ANADROME_VERDICT_RIGHT) {
    text += "; an error of the derivative of " + scientific(check.resolution, 1) + " would be seen";
  }
  text += "\n";
  text += std::string("  dot products: ") + name_of(check.product_verdict);
  if (!findings.products.empty()) {
    const std::int64_t undecided = undecided_in(findings);
    text += ", of " + std::to_string(check.products) + " steps" +
            (undecided > 0 ? ", " + std::to_string(undecided) + " of them undecided, " : ", ") +
            findings.pairs + "; largest difference " + scientific(check.product_mismatch, 1);
  }
  text += "\n";
  if (!findings.left_out.empty()) text += "    in no pair: " + findings.left_out + "\n";
  text += lines_of(findings.products);
  text += std::string("  ") + check.message + "\n";
  return text;
}

}  // namespace anadrome::engine
