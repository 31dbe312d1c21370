// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/state_watch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "api/python/python.h"

namespace anadrome::python {
namespace {

// As fast as memory: four chains of odd multipliers (Knuth, The Art of Computer Programming 2,
// 3.3.4). It need not withstand anyone; every word counts, so that a change of one is seen.
std::uint64_t sum_of(const void* values, std::size_t bytes) {
  constexpr std::uint64_t kFactor = 6364136223846793005U;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::array<std::uint64_t, 4> chains = {1, 2, 3, 4};
  const auto* at = static_cast<const unsigned char*>(values);
  for (; bytes >= sizeof chains; at += sizeof chains, bytes -= sizeof chains) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), at, sizeof words);
    for (std::size_t i = 0; i < 4; ++i) chains[i] = chains[i] * kFactor + words[i];
  }
  while (bytes > 0) {
    std::uint64_t word = 0;
    const std::size_t part = std::min(bytes, kWord);
    std::memcpy(&word, at, part);
    chains[0] = chains[0] * kFactor + word;
    at += part;
    bytes -= part;
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t chain : chains) sum = sum * kFactor + chain;
  return sum;
}

}  // namespace

void StateWatch::add_array(const std::string& name, const void* values, std::size_t bytes) {
  arrays_.push_back({name, values, bytes});
}

void StateWatch::before() {
  if (done_) return;
  done_ = looking_ = true;
  for (Array& array : arrays_) array.sum = sum_of(array.values, array.bytes);
}

void StateWatch::after() {
  if (!looking_) return;
  looking_ = false;
  const std::string names = unchanged();
  if (names.empty()) return;
  const std::string text =
      "the first steps changed no byte of the state (" + names +
      "): anadrome reads the arrays that were registered, and `u = step(u)` makes another one; "
      "write into the registered array, u[:] = step(u)";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 2) != 0) throw py::error_already_set();
}

// The names of the arrays if none of them changed; "" otherwise.
std::string StateWatch::unchanged() const {
  std::string names;
  for (const Array& array : arrays_) {
    if (array.bytes == 0) continue;
    if (sum_of(array.values, array.bytes) != array.sum) return "";
    names += (names.empty() ? "" : ", ") + array.name;
  }
  return names;
}

}  // namespace anadrome::python
