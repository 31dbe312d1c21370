// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace anadrome::test {

/// Is `part` in the text? A failure shows both.
inline testing::AssertionResult has_part(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos)
    return testing::AssertionFailure() << "no '" << part << "' in: " << text;
  return testing::AssertionSuccess() << "'" << part << "' is in: " << text;
}

/// The number that follows `before` in the text; 1, and a failure, where nothing does.
inline std::int64_t number_after(const std::string& text, const std::string& before) {
  EXPECT_TRUE(has_part(text, before));
  const std::size_t at = text.find(before);
  return at == std::string::npos ? 1 : std::stoll(text.substr(at + before.size()));
}

}  // namespace anadrome::test
