// SPDX-License-Identifier: BSD-2-Clause
// The registered fields of a run, and those of the sweep under way by their role.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/asked/devices.h"
#include "store/memory/block_layout.h"

namespace anadrome::engine {

class Fields {
 public:
  /// Returns the field's number. Throws ERR_ARGUMENT for a name that is taken or a size that
  /// overflows.
  int add(store::Field field);
  /// For compression. Throw ERR_ARGUMENT as anadrome_set_shape and anadrome_set_tolerance.
  void set_shape(const std::string& name, std::vector<std::int64_t> sizes);
  void set_tolerance(const std::string& name, double absolute);
  const std::vector<store::Field>& all() const { return all_; }
  Devices& devices() { return devices_; }
  std::vector<store::Field> with_role(anadrome_role role) const;
  std::int64_t bytes_with_role(anadrome_role role) const;
  bool has(anadrome_role role) const;
  bool has_exchanged() const;

  /// A sweep begins with the fields that there are now. May lack the memory.
  void begin_sweep();
  /// Likewise, of states that are this field; the registered ones are committed with the adjoint
  /// fields. So many bytes are the library's for it, beside the pool.
  void begin_sweep(store::Field state, std::int64_t bytes);
  /// In the sweep: as registered, or with states replaced.
  const std::vector<store::Field>& in_sweep() const { return in_sweep_; }
  bool replaced() const { return bytes_beside_ > 0; }
  std::int64_t bytes_beside() const { return bytes_beside_; }
  /// What a commit has a copy of.
  std::vector<store::Field> committed() const;
  std::int64_t committed_bytes() const;  ///< allocates nothing
  const std::vector<store::Field>& state() const { return state_; }
  const std::vector<store::Field>& tape() const { return tape_; }
  /// Were fields registered since the sweep began?
  bool grew_since_begin() const { return all_.size() != at_begin_; }
  /// The position of field `field` among the state fields; their number for one that is none.
  std::size_t state_position(int field) const;
  bool too_many_bytes() const;
  /// Two arrays that lie in the same memory, if there are any: no state could be restored.
  Failure overlap() const;

  /// Since files were made with them.
  bool changed() const { return changed_; }
  void files_are_made() { changed_ = false; }

  /// Names, roles and types, a line each: the same on all ranks.
  std::string table() const;

 private:
  store::Field& named(const std::string& name);

  Devices devices_;
  std::vector<store::Field> all_, in_sweep_, state_, tape_;
  std::int64_t bytes_beside_ = 0;
  std::size_t at_begin_ = 0;
  bool changed_ = true;
};

}  // namespace anadrome::engine
