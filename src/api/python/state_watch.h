// SPDX-License-Identifier: BSD-2-Clause
// Whether the first ADVANCE of a run changed a state array at all: `u = step(u)` makes another
// array and leaves the registered one as it was, and nobody would say so.
#pragma once

#include <anadrome/anadrome.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace anadrome::python {

class StateWatch {
 public:
  /// A state array that is looked at.
  void add_array(const std::string& name, const void* values, std::size_t bytes);
  /// A state that is no array: nothing can be said.
  void give_up() { done_ = true, looking_ = false; }
  /// The caller is about to carry out `action`.
  void before(const anadrome_action& action);
  /// The action is not carried out, or not all of it: the next one shall show.
  void cut_short() { done_ = done_ && !looking_, looking_ = false; }
  /// The caller comes back. The names of the arrays if none of them changed; "" otherwise.
  std::string unchanged_after();

 private:
  struct Array {
    std::string name;
    const void* values;
    std::size_t bytes;
    std::uint64_t sum = 0;
  };
  std::vector<Array> arrays_;
  bool done_ = false, looking_ = false;
};

}  // namespace anadrome::python
