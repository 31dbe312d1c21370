// SPDX-License-Identifier: BSD-2-Clause
// Programs trap floating-point errors (-ffpe-trap), raise flags that they read at their end, flush
// small numbers to zero. The library computes with whatever the caller's cells hold, and with
// infinities of its own: each function of the C interface therefore has the default environment,
// and gives the caller's back as it was. A callback has the caller's.
#pragma once

#include <cfenv>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace anadrome {

/// What the caller's arithmetic depends on: traps, flags, rounding.
class Arithmetic {
 public:
#if defined(__x86_64__)
  // One register: <cfenv> takes twenty times as long, for the x87 that no double uses.
  static Arithmetic now() { return Arithmetic(_mm_getcsr()); }
  static void set_default() { _mm_setcsr(0x1f80); }
  void set() const { _mm_setcsr(register_); }

 private:
  explicit Arithmetic(unsigned value) : register_(value) {}
  unsigned register_;
#else
  static Arithmetic now() {
    Arithmetic here;
    std::fegetenv(&here.environment_);
    return here;
  }
  static void set_default() { std::fesetenv(FE_DFL_ENV); }
  void set() const { std::fesetenv(&environment_); }

 private:
  std::fenv_t environment_;
#endif
};

/// While it lives, this thread computes as the library does.
class OwnArithmetic {
 public:
  OwnArithmetic() : outer_(std::exchange(innermost_, this)) { Arithmetic::set_default(); }
  ~OwnArithmetic() {
    callers_.set();
    innermost_ = outer_;
  }
  OwnArithmetic(const OwnArithmetic&) = delete;
  OwnArithmetic& operator=(const OwnArithmetic&) = delete;

 private:
  friend class CallersArithmetic;
  Arithmetic callers_ = Arithmetic::now();
  OwnArithmetic* outer_;
  static inline thread_local OwnArithmetic* innermost_ = nullptr;
};

/// While it lives, within an OwnArithmetic, this thread computes as the caller does; the flags that
/// are raised meanwhile stay raised.
class CallersArithmetic {
 public:
  CallersArithmetic() : within_(OwnArithmetic::innermost_) {
    if (within_ != nullptr) within_->callers_.set();
  }
  ~CallersArithmetic() {
    if (within_ == nullptr) return;
    within_->callers_ = Arithmetic::now();
    Arithmetic::set_default();
  }
  CallersArithmetic(const CallersArithmetic&) = delete;
  CallersArithmetic& operator=(const CallersArithmetic&) = delete;

 private:
  OwnArithmetic* within_;
};

}  // namespace anadrome
