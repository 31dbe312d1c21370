// SPDX-License-Identifier: BSD-2-Clause
#include "engine/asked/fields.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "store/memory/device_mover.h"
#include "store/memory/field_copy.h"
#include "store/memory/field_table.h"

namespace anadrome::engine {
namespace {

// Far beyond any machine, and far enough from overflow for all that is computed from it.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;

bool exceeds_most(const std::vector<store::Field>& fields) {
  std::int64_t bytes = 0;
  for (const store::Field& field : fields) {
    if (field.bytes() > kMostBytes - bytes) return true;
    bytes += field.bytes();
  }
  return false;
}

}  // namespace

int Fields::add(store::Field field) {
  const bool taken = std::any_of(all_.begin(), all_.end(), [&](const store::Field& other) {
    return other.name == field.name;
  });
  if (taken) {
    throw Error(ANADROME_ERR_ARGUMENT, "there is a field '" + field.name + "' already");
  }
  field.bytes();  // throws if the size overflows
  all_.push_back(std::move(field));
  changed_ = true;
  return static_cast<int>(all_.size()) - 1;
}

store::Field& Fields::named(const std::string& name) {
  const auto field =
      std::find_if(all_.begin(), all_.end(), [&](const store::Field& f) { return f.name == name; });
  if (field == all_.end())
    throw Error(ANADROME_ERR_ARGUMENT, "there is no field '" + name + "'; register it before");
  return *field;
}

void Fields::set_shape(const std::string& name, std::vector<std::int64_t> sizes) {
  store::Field& field = named(name);
  if (store::is_packed(field))
    throw Error(ANADROME_ERR_ARGUMENT, "set_shape: '" + name + "' is packed: its bytes have none");
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw Error(ANADROME_ERR_ARGUMENT, "set_shape: a size is negative");
    count = checked_multiply(count, size);
  }
  if (count != field.count)
    throw Error(ANADROME_ERR_ARGUMENT, "set_shape: '" + name + "' has " +
                                           std::to_string(field.count) + " elements, not " +
                                           std::to_string(count));
  field.shape = std::move(sizes);
  changed_ = true;
}

void Fields::set_tolerance(const std::string& name, double absolute) {
  store::Field& field = named(name);
  if (!(std::isfinite(absolute) && absolute >= 0))
    throw Error(ANADROME_ERR_ARGUMENT, "set_tolerance: that of '" + name + "' is no number >= 0");
  field.tolerance = absolute;
  changed_ = true;
}

std::vector<store::Field> Fields::with_role(anadrome_role role) const {
  std::vector<store::Field> fields;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(fields),
               [role](const store::Field& f) { return f.role == role; });
  return fields;
}

std::int64_t Fields::bytes_with_role(anadrome_role role) const {
  std::int64_t bytes = 0;
  for (const store::Field& field : all_) {
    if (field.role == role) bytes = checked_add(bytes, field.bytes());
  }
  return bytes;
}

bool Fields::has(anadrome_role role) const {
  return std::any_of(all_.begin(), all_.end(),
                     [role](const store::Field& f) { return f.role == role; });
}

bool Fields::has_exchanged() const { return store::any_exchanged(all_); }

void Fields::begin_sweep() {
  at_begin_ = all_.size();
  in_sweep_ = all_;
  state_ = with_role(ANADROME_ROLE_STATE);
  tape_ = with_role(ANADROME_ROLE_TAPE);
  if (replaced()) changed_ = true;
  bytes_beside_ = 0;
}

void Fields::begin_sweep(store::Field state, std::int64_t bytes) {
  const bool replaced_before = replaced();
  begin_sweep();
  for (store::Field& field : in_sweep_) field.role = ANADROME_ROLE_ADJOINT;
  in_sweep_.push_back(state);
  state_ = {std::move(state)};
  changed_ = changed_ || !replaced_before;
  bytes_beside_ = bytes;
}

std::vector<store::Field> Fields::committed() const {
  std::vector<store::Field> fields;
  std::copy_if(in_sweep_.begin(), in_sweep_.end(), std::back_inserter(fields),
               [](const store::Field& f) { return f.role == ANADROME_ROLE_ADJOINT; });
  return fields;
}

std::int64_t Fields::committed_bytes() const {
  std::int64_t bytes = 0;
  for (const store::Field& field : in_sweep_) {
    if (field.role == ANADROME_ROLE_ADJOINT) bytes = checked_add(bytes, field.bytes());
  }
  return bytes;
}

std::size_t Fields::state_position(int field) const {
  if (field < 0 || static_cast<std::size_t>(field) >= all_.size() ||
      all_[at(field)].role != ANADROME_ROLE_STATE) {
    return state_.size();
  }
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.begin() + field,
                    [](const store::Field& f) { return f.role == ANADROME_ROLE_STATE; }));
}

bool Fields::too_many_bytes() const { return exceeds_most(all_); }

std::string Fields::table() const {
  std::string table;
  for (const store::Field& field : all_) {
    table += store::described(field) +
             (store::varies(field)      ? ", of varying size"
              : store::is_packed(field) ? ", packed"
                                        : "") +
             (field.exchanged ? ", exchanged" : "") +
             (store::on_device(field) != nullptr ? ", on a device" : "") + "\n";
  }
  return table;
}

Failure Fields::overlap() const {
  struct Array {
    const std::byte *begin, *end;
    const store::Field* field;
  };
  std::vector<Array> arrays;
  for (const store::Field& field : all_) {
    const auto* const begin = static_cast<const std::byte*>(field.values);
    if (begin != nullptr && field.bytes() > 0) {
      arrays.push_back({begin, begin + field.bytes(), &field});
    }
  }
  std::sort(arrays.begin(), arrays.end(),
            [](const Array& a, const Array& b) { return std::less<>()(a.begin, b.begin); });
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    const Array &low = arrays[i - 1], &high = arrays[i];
    if (!std::less<>()(high.begin, low.end)) continue;
    const std::ptrdiff_t shared = std::min(low.end, high.end) - high.begin;
    return {ANADROME_ERR_ARGUMENT,
            "begin: the arrays of fields '" + low.field->name + "' and '" + high.field->name +
                "' overlap: " + std::to_string(shared) + " bytes belong to both, from byte " +
                std::to_string(high.begin - low.begin) + " of '" + low.field->name +
                "' on; register each array once, with its own count of elements"};
  }
  return {};
}

}  // namespace anadrome::engine
