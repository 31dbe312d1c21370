// SPDX-License-Identifier: BSD-2-Clause
// Whether the first ADVANCE of a run changed a state array at all: `u = step(u)` makes another
// array and leaves the registered one as it was, and nobody would say so.
#pragma once

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
  /// The caller is about to advance.
  void before();
  /// The action is not carried out, or not all of it: the next one shall show.
  void cut_short() { done_ = done_ && !looking_, looking_ = false; }
  /// The caller comes back. A RuntimeWarning if no array changed; the GIL is held.
  void after();

 private:
  struct Array {
    std::string name;
    const void* values;
    std::size_t bytes;
    std::uint64_t sum = 0;
  };
  std::string unchanged() const;
  std::vector<Array> arrays_;
  bool done_ = false, looking_ = false;
};

}  // namespace anadrome::python
