// SPDX-License-Identifier: BSD-2-Clause
// How the library calls what its caller gave it: with the caller's arithmetic, and with what comes
// back, or is thrown, as the callback's own failure.
#pragma once

#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "base/error.h"

namespace anadrome {

/// Throws ERR_PEER where the callback throws, whatever that is.
template <class Result, class... Parameters, class... Arguments>
Result call_back(Result (*function)(Parameters...), Arguments... arguments) {
  const CallersArithmetic callers;
  try {
    return function(arguments...);
  } catch (const std::exception& thrown) {
    throw Error(ANADROME_ERR_PEER, std::string("threw: ") + thrown.what());
  } catch (...) {
    throw Error(ANADROME_ERR_PEER, "threw what is no std::exception");
  }
}

/// Of a callback that returns 0 where nothing is wrong; the parts of `name` stand for it. Throws
/// nothing: without memory it says less.
template <class Function, class... Arguments>
Failure failure_of_callback(std::initializer_list<std::string_view> name, Function function,
                            Arguments... arguments) {
  Failure failed = failure_from([&] {
    if (const int code = call_back(function, arguments...); code != 0)
      throw Error(ANADROME_ERR_PEER, "returned " + std::to_string(code));
  });
  if (!failed) return {};
  failure_from([&] {
    std::string text;
    for (const std::string_view part : name) text += part;
    failed.message = text + " " + failed.message;
  });
  return failed;
}

}  // namespace anadrome
