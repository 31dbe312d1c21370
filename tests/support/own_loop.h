// SPDX-License-Identifier: BSD-2-Clause
// The loop of actions and the arrays of a test that has a model of its own.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace anadrome::test {

/// Hands out every action after a begin that gave `status`, to DONE or to an error.
template <class Act>
anadrome_status follow(anadrome_run* run, anadrome_status status, Act&& act) {
  anadrome_action action = {};
  while (status == ANADROME_OK && (status = anadrome_next(run, &action)) == ANADROME_OK &&
         action.kind != ANADROME_DONE)
    act(action);
  return status;
}

/// The steps of an ADVANCE; of other actions none.
template <class Step>
void take_steps(const anadrome_action& action, Step&& step) {
  if (action.kind != ANADROME_ADVANCE) return;
  for (std::int64_t k = action.first; k < action.last; ++k) step(k);
}

template <class Number>
constexpr anadrome_type kTypeOf = std::is_same_v<Number, double>         ? ANADROME_FLOAT64
                                  : std::is_same_v<Number, float>        ? ANADROME_FLOAT32
                                  : std::is_same_v<Number, std::int32_t> ? ANADROME_INT32
                                                                         : ANADROME_INT64;

template <class Number>
anadrome_status add_array(anadrome_run* run, const char* name, std::vector<Number>& values,
                          anadrome_role role = ANADROME_ROLE_STATE) {
  return anadrome_add_field(run, name, role, kTypeOf<Number>, values.data(), values.size());
}
template <class Number>
anadrome_status add_number(anadrome_run* run, const char* name, Number& value,
                           anadrome_role role = ANADROME_ROLE_STATE) {
  return anadrome_add_field(run, name, role, kTypeOf<Number>, &value, 1);
}

}  // namespace anadrome::test
