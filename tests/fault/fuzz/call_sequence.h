// SPDX-License-Identifier: BSD-2-Clause
// A random program over the C interface, on one rank: calls in any order, with arguments that make
// sense and with absurd ones, chosen by bytes. Where it happens to do what the actions say, every
// state must be the right one; whatever it does, statuses and messages must be what the header
// promises.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace anadrome::test {

/// The calls made, for a report of how much was covered.
struct CallCounts {
  std::int64_t calls = 0, refused = 0, begun = 0, done = 0, states_checked = 0;
};

/// Run the program that `bytes` spell. Files are made in `directory`, which is empty again
/// afterwards. Returns "" or what is wrong.
std::string play_calls(std::span<const std::uint8_t> bytes, const std::string& directory,
                       CallCounts& counts);

}  // namespace anadrome::test
