// SPDX-License-Identifier: BSD-2-Clause
#include "check/rehearsal.h"

#include <cstring>
#include <utility>

#include "base/arithmetic.h"
#include "base/index.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {
namespace {

std::vector<store::Field> copied_fields(const Run& run, anadrome_role role) {
  std::vector<store::Field> fields = run.fields().with_role(role);
  std::erase_if(fields, [](const store::Field& field) { return field.exchanged; });
  return fields;
}

}  // namespace

// ---- the values of fields ----

FieldValues::FieldValues(std::vector<store::Field> fields)
    : fields_(std::move(fields)), piece_(size(store::most_piece_bytes(fields_))) {}

void FieldValues::keep() { store::keep_piece(fields_, piece_.data(), std::ssize(piece_)); }

void FieldValues::restore() const { store::restore_piece(fields_, piece_.data()); }

// ---- calls outside of a sweep ----

Rehearsal::Rehearsal(Run& run, const anadrome_model& model)
    : run_(run),
      model_(model),
      adjoint_(run.fields().with_role(ANADROME_ROLE_ADJOINT)),
      tape_(run.fields().with_role(ANADROME_ROLE_TAPE)),
      entry_state_(copied_fields(run, ANADROME_ROLE_STATE)),
      entry_adjoint_(adjoint_),
      turn_state_(copied_fields(run, ANADROME_ROLE_STATE)) {
  const std::vector<store::Field>& all = run.fields().all();
  lent_.resize(all.size());
  for (std::size_t number = 0; number < all.size(); ++number) {
    store::Field field = all[number];
    if (field.role != ANADROME_ROLE_STATE) continue;
    if (field.exchanged) {
      const auto bytes = size(field.bytes());
      now_.emplace_back(bytes);
      then_.emplace_back(bytes);
      exchanged_.push_back(number);
      field.exchanged = false;
      field.values = now_.back().data();
      lent_[number].now = now_.back().data();
    }
    state_.push_back(std::move(field));
  }
}

void Rehearsal::keep_entry() {
  attempt([&] {
    entry_state_.keep();
    entry_adjoint_.keep();
  });
}

void Rehearsal::go_on() { run_.rehearse(&lent_); }

void Rehearsal::restore_entry() {
  attempt([&] { entry_state_.restore(); });
  restore_entry_of_adjoint();
}

void Rehearsal::restore_entry_of_adjoint() {
  attempt([&] { entry_adjoint_.restore(); });
}

void Rehearsal::keep_turn() {
  attempt([&] { turn_state_.keep(); });
}

bool Rehearsal::restore_turn() {
  if (exchanged_.empty()) attempt([&] { turn_state_.restore(); });
  return exchanged_.empty();
}

// Exchanged fields are written to `then`, which becomes `now`.
void Rehearsal::write_then(bool on) {
  for (std::size_t i = 0; i < exchanged_.size(); ++i) {
    lent_[exchanged_[i]].then = on ? then_[i].data() : nullptr;
    if (!on && !now_[i].empty()) std::memcpy(now_[i].data(), then_[i].data(), now_[i].size());
  }
}

void Rehearsal::start() {
  if (model_.start == nullptr) return;
  write_then(true);
  note("start", model_.start, model_.context);
  write_then(false);
}

void Rehearsal::advance(std::int64_t first, std::int64_t last) {
  const std::int64_t most = exchanged_.empty() ? last - first : 1;
  for (; first < last; first += most) {
    const std::int64_t end = first + most;
    std::int64_t reached = end;
    write_then(true);
    note("advance", model_.advance, model_.context, first, end, &reached);
    write_then(false);
    if (reached == end) continue;
    attempt([&] {
      throw Error(ANADROME_ERR_ARGUMENT, "check_gradient: the model ended after " +
                                             std::to_string(reached) +
                                             " steps; give a number of steps that it takes");
    });
  }
}

void Rehearsal::record(std::int64_t step) {
  std::int64_t reached = step + 1;
  write_then(true);
  note("record", model_.record, model_.context, step, &reached);
  write_then(false);
}

void Rehearsal::turn(std::int64_t steps) {
  if (model_.turn != nullptr) note("turn", model_.turn, model_.context, steps);
}

void Rehearsal::adjoint(std::int64_t step) {
  note("adjoint", model_.adjoint, model_.context, step);
}

}  // namespace anadrome::engine
