// SPDX-License-Identifier: BSD-2-Clause
// What each option of a run is for: the words of `anadrome options`, its manual page and
// docs/options.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anadrome::tool {

enum class Layer { kEverybody, kSome, kFew };

struct OptionText {
  std::string_view name;
  Layer layer;
  std::string_view preset;   ///< the default, as it would be written
  std::string_view example;  ///< a value
  std::string_view meaning;
  std::string_view wrong;  ///< a value that is refused; empty: there is none
  std::string_view care;   ///< what else may go wrong; empty: nothing
  std::string_view more;   ///< links of docs/options.md, as Markdown
};

/// In the order of the page: layer by layer.
const std::vector<OptionText>& option_texts();

/// The sections of docs/options.md.
std::string options_page();

}  // namespace anadrome::tool
