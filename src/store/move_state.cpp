#include "store/move_state.h"

#include <cstring>

#include "base/error.h"

namespace anadrome::store {
namespace {

[[noreturn]] void throw_callback_failed(const char* which, const Field& field, int code) {
  throw Error(ANADROME_ERR_PEER, std::string("the ") + which + " callback of field '" + field.name +
                                     "' returned " + std::to_string(code));
}

}  // namespace

void keep_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                std::int64_t index) {
  const Field* failed = nullptr;
  int code = 0;
  for (std::size_t f = 0; f < state_fields.size(); ++f) {
    const Field& field = state_fields[f];
    const auto bytes = static_cast<std::size_t>(layout.parts()[f].bytes);
    std::byte* place = layout.address(block, index, f);
    if (field.pack != nullptr) {
      const int returned = field.pack(field.context, place, bytes);
      if (returned != 0) failed = &field, code = returned;
    } else if (bytes > 0) {
      std::memcpy(place, field.values, bytes);
    }
  }
  if (failed != nullptr) throw_callback_failed("pack", *failed, code);
}

void restore_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                   std::int64_t index) {
  const Field* failed = nullptr;
  int code = 0;
  for (std::size_t f = 0; f < state_fields.size(); ++f) {
    const Field& field = state_fields[f];
    const auto bytes = static_cast<std::size_t>(layout.parts()[f].bytes);
    const std::byte* place = layout.address(block, index, f);
    if (field.unpack != nullptr) {
      const int returned = field.unpack(field.context, place, bytes);
      if (returned != 0) failed = &field, code = returned;
    } else if (bytes > 0) {
      std::memcpy(field.values, place, bytes);
    }
  }
  if (failed != nullptr) throw_callback_failed("unpack", *failed, code);
}

}  // namespace anadrome::store
