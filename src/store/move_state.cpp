#include "store/move_state.h"

#include <cstring>

#include "base/error.h"

namespace anadrome::store {
namespace {

// Moves every field, whatever a callback of an earlier one returned: callbacks may be collective.
// `call` runs a field's callback, `copy` moves a registered array.
template <class Call, class Copy>
void move_fields(const BlockLayout& layout, std::span<const Field> fields, std::byte* block,
                 std::int64_t index, const char* callback, const Call& call, const Copy& copy) {
  const Field* failed = nullptr;
  int code = 0;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const Field& field = fields[f];
    const auto bytes = static_cast<std::size_t>(layout.parts()[f].bytes);
    std::byte* place = layout.address(block, index, f);
    if (field.pack != nullptr) {
      const int returned = call(field, place, bytes);
      if (returned != 0) failed = &field, code = returned;
    } else if (bytes > 0) {
      copy(field, place, bytes);
    }
  }
  if (failed != nullptr) {
    throw Error(ANADROME_ERR_PEER, std::string("the ") + callback + " callback of field '" +
                                       failed->name + "' returned " + std::to_string(code));
  }
}

}  // namespace

void keep_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                std::int64_t index) {
  move_fields(
      layout, state_fields, block, index, "pack",
      [](const Field& field, std::byte* place, std::size_t bytes) {
        return field.pack(field.context, place, bytes);
      },
      [](const Field& field, std::byte* place, std::size_t bytes) {
        std::memcpy(place, field.values, bytes);
      });
}

void restore_state(const BlockLayout& layout, std::span<const Field> state_fields, std::byte* block,
                   std::int64_t index) {
  move_fields(
      layout, state_fields, block, index, "unpack",
      [](const Field& field, const std::byte* place, std::size_t bytes) {
        return field.unpack(field.context, place, bytes);
      },
      [](const Field& field, const std::byte* place, std::size_t bytes) {
        std::memcpy(field.values, place, bytes);
      });
}

}  // namespace anadrome::store
