// SPDX-License-Identifier: BSD-2-Clause
#include "random_caller.h"

#include <algorithm>
#include <cstring>

namespace anadrome::test {

void RandomCaller::fill(const Registered& field, std::int64_t step, unsigned char* to) {
  std::uint64_t word = (static_cast<std::uint64_t>(step) + 1) * 0x9e3779b97f4a7c15 ^ field.salt;
  for (std::size_t b = 0; b < field.bytes; ++b) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    to[b] = static_cast<unsigned char>(word);
  }
}

bool RandomCaller::has_tape() const {
  return std::any_of(fields.begin(), fields.end(), [](const Registered& f) {
    return f.role == ANADROME_ROLE_TAPE && f.in_sweep;
  });
}

void RandomCaller::begun(std::int64_t steps) {
  for (Registered& field : fields) field.in_sweep = true;
  honest_ = true;
  steps_ = steps;
  to_adjoin_ = -1;
}

void RandomCaller::write(std::int64_t step, anadrome_role role) {
  for (Registered& field : fields) {
    if (field.role != role || !field.in_sweep) continue;
    if (field.kind != Kind::kExchanged) {
      fill(field, step, field.values.data());
    } else if (void* then = anadrome_then(run, field.number)) {
      fill(field, step, static_cast<unsigned char*>(then));
    } else if (field.bytes > 0 && honest_ && wrong.empty()) {
      wrong = "there is no place for x_" + std::to_string(step);
    }
  }
}

void RandomCaller::check(std::int64_t step, anadrome_role role) {
  if (!honest_) return;
  for (Registered& field : fields) {
    if (field.role != role || field.bytes == 0 || !field.in_sweep) continue;
    std::vector<unsigned char> right(field.bytes);
    fill(field, step, right.data());
    const void* found =
        field.kind == Kind::kExchanged ? anadrome_now(run, field.number) : field.values.data();
    ++states_checked;
    if (wrong.empty() && (found == nullptr || std::memcmp(found, right.data(), field.bytes) != 0)) {
      wrong = std::string(role == ANADROME_ROLE_TAPE ? "tape " : "state ") + std::to_string(step) +
              " is wrong";
    }
  }
}

void RandomCaller::expect(bool condition, const anadrome_action& action) {
  if (condition || !honest_ || !wrong.empty()) return;
  wrong = "action " + std::to_string(action.kind) + " [" + std::to_string(action.first) + ", " +
          std::to_string(action.last) + ") of " + std::to_string(steps_) + " steps makes no sense";
}

void RandomCaller::write_start() { write(0, ANADROME_ROLE_STATE); }

bool RandomCaller::follow(const anadrome_action& action) {
  switch (action.kind) {
    case ANADROME_VISIT:
    case ANADROME_RETREAT:
      expect(false, action);  // nobody began a pass, nor schedule=undo
      return true;
    case ANADROME_ADVANCE:
      expect(0 <= action.first && action.first < action.last &&
                 (steps_ < 0 || action.last <= steps_) &&
                 (to_adjoin_ < 0 || action.last <= to_adjoin_ + 1),
             action);
      check(action.first, ANADROME_ROLE_STATE);
      if (action.record != 0) write(action.last - 1, ANADROME_ROLE_TAPE);
      write(action.last, ANADROME_ROLE_STATE);
      return true;
    case ANADROME_TURN:
      expect(action.first == steps_ || steps_ < 0, action);
      if (steps_ < 0) go_astray();  // it ended, and this caller never said so
      check(action.first, ANADROME_ROLE_STATE);
      to_adjoin_ = action.first - 1;
      return true;
    case ANADROME_ADJOINT:
      expect(action.first == to_adjoin_ && action.last == action.first + 1, action);
      check(action.first, has_tape() ? ANADROME_ROLE_TAPE : ANADROME_ROLE_STATE);
      --to_adjoin_;
      return true;
    case ANADROME_DONE:
      expect(to_adjoin_ == -1, action);
      if (!has_tape()) check(0, ANADROME_ROLE_STATE);
      return true;
  }
  wrong = "there is no action " + std::to_string(action.kind);
  return false;
}

anadrome_status RandomCaller::finish(const anadrome_action& action, std::int64_t steps) {
  if (honest_ && steps_ < 0 && action.kind == ANADROME_ADVANCE && steps >= action.first &&
      steps <= action.last) {
    check(action.first, ANADROME_ROLE_STATE);
    if (action.record != 0 && steps > action.first) write(steps - 1, ANADROME_ROLE_TAPE);
    if (steps > action.first) write(steps, ANADROME_ROLE_STATE);
  } else {
    go_astray();
  }
  const anadrome_status status = anadrome_finish_forward(run, steps);
  if (status == ANADROME_OK) {
    steps_ = steps;
  } else {
    go_astray();
  }
  return status;
}

}  // namespace anadrome::test
