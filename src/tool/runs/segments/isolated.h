// SPDX-License-Identifier: BSD-2-Clause
// Reading a file that may be anything with a library that trusts it: in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace anadrome::tool {

/// The result of `body`, run in a child with little memory and `seconds` of processor time. Throws
/// ERR_CORRUPT, naming `what`, if the child does not live to say it.
std::string in_child(const std::string& what, std::int64_t seconds,
                     const std::function<std::string()>& body);

}  // namespace anadrome::tool
