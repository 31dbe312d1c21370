// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace anadrome::test {

/// Is `part` in the text? A failure shows both.
inline testing::AssertionResult has_part(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos)
    return testing::AssertionFailure() << "no '" << part << "' in: " << text;
  return testing::AssertionSuccess() << "'" << part << "' is in: " << text;
}

}  // namespace anadrome::test
