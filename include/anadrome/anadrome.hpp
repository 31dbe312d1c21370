// SPDX-License-Identifier: BSD-2-Clause
// anadrome for C++: handles that close themselves, exceptions for statuses, a range of actions,
// callbacks as lambdas. Everything is inline and forwards to anadrome.h, whose conventions hold;
// C++11 suffices, std::span is accepted from C++20 on. One file, though long: one include is all.
//
// - A status other than ANADROME_OK is thrown as anadrome::Error. What is collective throws on
//   every rank. A Run that was moved from or closed throws ANADROME_ERR_ARGUMENT.
// - An exception that leaves a callback or a pack function fails the run on every rank
//   (ANADROME_ERR_PEER there); on the rank where it was thrown it comes out of the call again. It
//   must not leave between MPI calls that other ranks wait in: nothing can wake those.
// - Arrays stay the caller's: they must not move (a vector must not grow) until the run is closed.
//
// One file, though long: each function is a line over C, and most lines are its documentation.
#ifndef ANADROME_ANADROME_HPP
#define ANADROME_ANADROME_HPP

#include <anadrome/gradient.h>

#include <anadrome/error.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace anadrome {
// Inline, so that none of these names meets one of the library's own in a static program.
inline namespace client {

/** What anadrome_next asks the caller to do. */
using Action = anadrome_action;

/** The model for Run::solve. start, record and turn may be empty as in anadrome_model. */
struct Model {
  /** Write x_0. Required with exchanged fields. */
  std::function<void()> start;
  /** Run steps first to last-1. With unknown steps, set reached = n < last when the sweep ends.
   * Required. */
  std::function<void(std::int64_t first, std::int64_t last, std::int64_t& reached)> advance;
  /** As advance for one step, and fill the tape fields. Required if there are tape fields. */
  std::function<void(std::int64_t step, std::int64_t& reached)> record;
  /** Objective and terminal condition; the arrays hold x_n. */
  std::function<void(std::int64_t steps)> turn;
  /** The adjoint of step `step`. Required, but for a pass forward. */
  std::function<void(std::int64_t step)> adjoint;
  /** Visit step `step`: required for a pass forward, of which it is all. */
  std::function<void(std::int64_t step)> visit;
  /** Undo step `step`, up to rounding: for schedule=undo. */
  std::function<void(std::int64_t step)> undo;
};

/** What Run::check_gradient is given beside the model: the members of anadrome_gradient. */
struct Gradient {
  /** Set the controls to m + epsilon dm, dm being the direction of number `seed`; 0 gives m back.
   * Required. */
  std::function<void(std::int64_t seed, double epsilon)> perturb;
  /** The objective of the forward sweep that is at its end, of all ranks. Required. */
  std::function<double()> objective;
  /** Its derivative in the direction of number `seed`, of all ranks. Required. */
  std::function<double(std::int64_t seed)> derivative;
  /** Set to zero what is part of an array and of no state. May be empty. */
  std::function<void()> mask;
  /** Which adjoint field belongs to which state field: "u=lambda v=mu". Empty: no dot products. */
  std::string pairs;
  /** How many directions; 0: three. */
  std::int64_t seeds = 0;
  /** The largest perturbation; 0: as anadrome_gradient says. */
  double epsilon = 0;
  /** How many steps have their dot products tested; 0: 32. */
  std::int64_t product_steps = 0;
  /** Where rank 0 writes a report: "-", or a file. Empty: nowhere. */
  std::string report;
};

/** What a check found. */
using GradientCheck = anadrome_gradient_check;

/// @cond private
namespace detail {

template <class T, class = void>
struct Element {
  static_assert(
      sizeof(T) == 0,
      "a field's elements are float, double, std::complex of these, signed integers of 32 "
      "or 64 bits, or single bytes, and not const");
};
template <>
struct Element<float> {
  static constexpr anadrome_type type = ANADROME_FLOAT32;
};
template <>
struct Element<double> {
  static constexpr anadrome_type type = ANADROME_FLOAT64;
};
template <>
struct Element<std::complex<float>> {
  static constexpr anadrome_type type = ANADROME_COMPLEX64;
};
template <>
struct Element<std::complex<double>> {
  static constexpr anadrome_type type = ANADROME_COMPLEX128;
};
template <class T>
struct Element<T, typename std::enable_if<std::is_integral<T>::value && std::is_signed<T>::value &&
                                          !std::is_const<T>::value &&
                                          (sizeof(T) == 4 || sizeof(T) == 8)>::type> {
  static constexpr anadrome_type type = sizeof(T) == 4 ? ANADROME_INT32 : ANADROME_INT64;
};
template <class T>
struct Element<T, typename std::enable_if<(std::is_integral<T>::value || std::is_enum<T>::value) &&
                                          !std::is_const<T>::value && sizeof(T) == 1>::type> {
  static constexpr anadrome_type type = ANADROME_BYTE;
};

// What outlives a move of the Run: C has addresses of it.
struct Live {
  struct Packed {
    Live* live;
    std::function<void(void*, std::size_t)> pack;
    std::function<void(const void*, std::size_t)> unpack;
    std::function<std::size_t()> size;

    static int packing(void* context, void* buffer, std::size_t bytes) {
      Packed& field = *static_cast<Packed*>(context);
      return field.live->guard([&] { field.pack(buffer, bytes); });
    }
    static int unpacking(void* context, const void* buffer, std::size_t bytes) {
      Packed& field = *static_cast<Packed*>(context);
      return field.live->guard([&] { field.unpack(buffer, bytes); });
    }
    static std::size_t asking(void* context) {
      Packed& field = *static_cast<Packed*>(context);
      std::size_t bytes = 0;
      field.live->guard([&] { bytes = field.size(); });
      return bytes;
    }
  };
  anadrome_run* run = nullptr;
  std::vector<std::unique_ptr<Packed>> packed;
  std::exception_ptr thrown;  // the first one that left a function of the caller's

  template <class Body>
  int guard(Body&& body) noexcept {
    try {
      body();
      return 0;
    } catch (const std::exception& failure) {
      if (!thrown) thrown = std::current_exception();
      anadrome_fail(run, failure.what());
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
      anadrome_fail(run, "an exception that is no std::exception");
    }
    return 1;
  }

  void check(anadrome_status status) {
    if (status == ANADROME_OK) return;
    std::exception_ptr own;
    own.swap(thrown);
    if (own) std::rethrow_exception(own);
    throw Error(status);
  }
};

struct Callbacks {
  Live* live;
  const Model* model;

  static int start(void* context) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->start(); });
  }
  static int advance(void* context, std::int64_t first, std::int64_t last, std::int64_t* reached) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->advance(first, last, *reached); });
  }
  static int record(void* context, std::int64_t step, std::int64_t* reached) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->record(step, *reached); });
  }
  static int turn(void* context, std::int64_t steps) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->turn(steps); });
  }
  static int adjoint(void* context, std::int64_t step) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->adjoint(step); });
  }
  static int visit(void* context, std::int64_t step) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->visit(step); });
  }
  static int undo(void* context, std::int64_t step) {
    const Callbacks& self = *static_cast<Callbacks*>(context);
    return self.live->guard([&] { self.model->undo(step); });
  }
};

struct GradientCallbacks {
  Live* live;
  const Gradient* gradient;

  static int perturb(void* context, std::int64_t seed, double epsilon) {
    const GradientCallbacks& self = *static_cast<GradientCallbacks*>(context);
    return self.live->guard([&] { self.gradient->perturb(seed, epsilon); });
  }
  static int objective(void* context, double* objective) {
    const GradientCallbacks& self = *static_cast<GradientCallbacks*>(context);
    return self.live->guard([&] { *objective = self.gradient->objective(); });
  }
  static int derivative(void* context, std::int64_t seed, double* derivative) {
    const GradientCallbacks& self = *static_cast<GradientCallbacks*>(context);
    return self.live->guard([&] { *derivative = self.gradient->derivative(seed); });
  }
  static int mask(void* context) {
    const GradientCallbacks& self = *static_cast<GradientCallbacks*>(context);
    return self.live->guard([&] { self.gradient->mask(); });
  }
};

inline anadrome_model callbacks_of(const Model& model, Callbacks& context) {
  anadrome_model callbacks = anadrome_model();
  callbacks.size = sizeof callbacks;
  callbacks.context = &context;
  if (model.start) callbacks.start = &Callbacks::start;
  if (model.advance) callbacks.advance = &Callbacks::advance;
  if (model.record) callbacks.record = &Callbacks::record;
  if (model.turn) callbacks.turn = &Callbacks::turn;
  if (model.adjoint) callbacks.adjoint = &Callbacks::adjoint;
  if (model.visit) callbacks.visit = &Callbacks::visit;
  if (model.undo) callbacks.undo = &Callbacks::undo;
  return callbacks;
}

}  // namespace detail
/// @endcond

/** The actions of one sweep, up to DONE, which is not among them. An input range: one pass. Its
 * first action is asked for by begin(). */
class Actions {
 public:
  /** Where the loop is. Incrementing it is anadrome_next. */
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag; /**< one pass */
    using value_type = Action;                         /**< what it points to */
    using difference_type = std::ptrdiff_t;            /**< of no use */
    using pointer = const Action*;                     /**< to the action */
    using reference = const Action&;                   /**< to the action */

    /** The end. */
    Iterator() : live_(nullptr), action_() {}
    /** The first action. @throws Error */
    explicit Iterator(detail::Live* live) : live_(live), action_() { ++*this; }
    /** What is to be done. */
    const Action& operator*() const { return action_; }
    /** What is to be done. */
    const Action* operator->() const { return &action_; }
    /** Finish it and get the next one. @throws Error */
    Iterator& operator++() {
      live_->check(anadrome_next(live_->run, &action_));
      if (action_.kind == ANADROME_DONE) live_ = nullptr;
      return *this;
    }
    /** As the other one. */
    void operator++(int) { ++*this; }
    /** Whether both are at the end. */
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.live_ == b.live_; }
    /** Whether one of them is not at the end. */
    friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

   private:
    detail::Live* live_;
    Action action_;
  };

  /** Get the first action. @throws Error */
  Iterator begin() const { return Iterator(live_); }
  /** After the last action. */
  Iterator end() const { return Iterator(); }

 private:
  friend class Run;
  explicit Actions(detail::Live* live) : live_(live) {}
  detail::Live* live_;
};

/** An exchanged field: where its states are (see anadrome_add_exchanged). Must not outlive the Run,
 * or what that was moved to. Without a live state, and after close, pointers are null and spans
 * empty. */
template <class T>
class Exchanged {
 public:
  /** x_k, read only; anadrome_now. */
  const T* now() const { return static_cast<const T*>(anadrome_now(live_->run, field_)); }
  /** Where x_{k+1}, or x_0, is to be written; anadrome_then. */
  T* then() const { return static_cast<T*>(anadrome_then(live_->run, field_)); }
  /** The number of elements on this rank. */
  std::size_t size() const noexcept { return count_; }
#if __cplusplus >= 202002L
  /** now() with its size. */
  std::span<const T> now_span() const { return span_at(now()); }
  /** then() with its size. */
  std::span<T> then_span() const { return span_at(then()); }
#endif

 private:
  friend class Run;
  Exchanged(const detail::Live* live, int field, std::size_t count)
      : live_(live), field_(field), count_(count) {}
#if __cplusplus >= 202002L
  template <class U>
  std::span<U> span_at(U* values) const {
    return {values, values != nullptr ? count_ : 0};
  }
#endif
  const detail::Live* live_;
  int field_;
  std::size_t count_;
};

/** One forward sweep and the adjoint sweep(s) back through it. Every member forwards to the
 * function of the same name in anadrome.h, and is collective if that is. */
class Run {
 public:
  /** Open a run on the ranks of `comm`. Collective. @throws Error */
  explicit Run(MPI_Comm comm) : live_(new detail::Live) {
    detail::check(anadrome_open(comm, &live_->run));
  }
  /** Close it, if that was not done, and say nothing about failures. Collective. */
  ~Run() {
    if (live_) anadrome_close(&live_->run);
  }
  /** Take over the other's run, which is left without one. */
  Run(Run&& other) noexcept : live_(std::move(other.live_)) {}
  /** Close this run and take over the other's. Collective. */
  Run& operator=(Run&& other) noexcept {
    Run taken(std::move(other));  // first: the other may be this one
    live_.swap(taken.live_);
    return *this;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /** Close the run; nothing to do if it is closed or was moved from. Collective. @throws Error */
  void close() {
    if (live_) live_->check(anadrome_close(&live_->run));
  }

  /** Set an option; may be chained. @throws Error */
  Run& set(const std::string& key, const std::string& value) {
    detail::check(anadrome_set(live().run, key.c_str(), value.c_str()));
    return *this;
  }

  /** Register `count` elements at `values`. @throws Error */
  template <class T>
  void add_field(const std::string& name, T* values, std::size_t count,
                 anadrome_role role = ANADROME_ROLE_STATE) {
    detail::check(anadrome_add_field(live().run, name.c_str(), role, detail::Element<T>::type,
                                     values, count));
  }
  /** Register an array. @throws Error */
  template <class T, std::size_t Count>
  void add_field(const std::string& name, T (&values)[Count],
                 anadrome_role role = ANADROME_ROLE_STATE) {
    add_field(name, values, Count, role);
  }
  /** Register what a container (a vector, an array) holds; it must neither move nor grow. @throws
   * Error */
  template <class Container>
  void add_field(const std::string& name, Container& values,
                 anadrome_role role = ANADROME_ROLE_STATE) {
    add_field(name, values.data(), values.size(), role);
  }
#if __cplusplus >= 202002L
  /** Register what a span refers to. @throws Error */
  template <class T, std::size_t Extent>
  void add_field(const std::string& name, std::span<T, Extent> values,
                 anadrome_role role = ANADROME_ROLE_STATE) {
    add_field(name, values.data(), values.size(), role);
  }
#endif

  /** Register a field of `bytes` bytes, written by `pack(buffer, bytes)` and read by
   * `unpack(buffer, bytes)`. @throws Error */
  void add_packed(const std::string& name, std::size_t bytes,
                  std::function<void(void*, std::size_t)> pack,
                  std::function<void(const void*, std::size_t)> unpack,
                  anadrome_role role = ANADROME_ROLE_STATE) {
    using Packed = detail::Live::Packed;
    live().packed.emplace_back(new Packed{live_.get(), std::move(pack), std::move(unpack), {}});
    detail::check(anadrome_add_packed(live().run, name.c_str(), role, bytes, Packed::packing,
                                      Packed::unpacking, live().packed.back().get()));
  }

  /** Register a state field whose size changes from state to state: `size()` bytes at the moment,
   * `most` at most. The callbacks must not communicate. @throws Error */
  void add_varying(const std::string& name, std::size_t most, std::function<std::size_t()> size,
                   std::function<void(void*, std::size_t)> pack,
                   std::function<void(const void*, std::size_t)> unpack) {
    using Packed = detail::Live::Packed;
    live().packed.emplace_back(
        new Packed{live_.get(), std::move(pack), std::move(unpack), std::move(size)});
    detail::check(anadrome_add_varying(live().run, name.c_str(), ANADROME_ROLE_STATE, most,
                                       Packed::asking, Packed::packing, Packed::unpacking,
                                       live().packed.back().get()));
  }

  /** Register a state field of `count` elements whose memory is the library's. @throws Error */
  template <class T>
  Exchanged<T> add_exchanged(const std::string& name, std::size_t count) {
    int field = -1;
    detail::check(anadrome_add_exchanged(live().run, name.c_str(), ANADROME_ROLE_STATE,
                                         detail::Element<T>::type, count, &field));
    return Exchanged<T>(live_.get(), field, count);
  }

  /** Begin a forward sweep. Collective. @throws Error */
  void begin(std::int64_t steps) {
    live().thrown = nullptr;
    live().check(anadrome_begin(live().run, steps));
  }

  /** After begin or sweep with resume=on: where the sweep goes on, anadrome_resumed. @throws Error
   */
  anadrome_phase resumed(std::int64_t& step) const {
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    detail::check(anadrome_resumed(live().run, &phase, &step));
    return phase;
  }

  /** Finish the previous action and get the next one. All ranks call it, and get the same. @throws
   * Error */
  Action next() {
    Action action;
    live().check(anadrome_next(live().run, &action));
    return action;
  }

  /** Begin a sweep and give its actions: `for (const anadrome::Action& a : run.sweep(n))`.
   * Collective.
   * @throws Error */
  Actions sweep(std::int64_t steps) {
    begin(steps);
    return Actions(&live());
  }

  /** Start a second reverse sweep over the same forward sweep, and give its actions. Collective.
   * @throws Error */
  Actions rewind() {
    live().check(anadrome_rewind(live().run));
    return Actions(&live());
  }

  /** Begin another pass over the trajectory that was swept, and give its actions: anadrome_pass.
   * Collective. @throws Error */
  Actions pass(anadrome_direction direction) {
    live().check(anadrome_pass(live().run, direction));
    return Actions(&live());
  }

  /** Run a pass with callbacks, whose exceptions pass through. Collective. @throws Error */
  void solve_pass(anadrome_direction direction, const Model& model) {
    live().thrown = nullptr;
    detail::Callbacks context = {&live(), &model};
    const anadrome_model callbacks = detail::callbacks_of(model, context);
    live().check(anadrome_solve_pass(live().run, direction, &callbacks));
  }

  /** Say how the elements of a field lie on this rank; the last size varies fastest. Local.
   * @throws Error */
  void set_shape(const std::string& field, const std::vector<std::int64_t>& sizes) {
    detail::check(anadrome_set_shape(live().run, field.c_str(), static_cast<int>(sizes.size()),
                                     sizes.data()));
  }
  /** Say by how much lossy compression may change each number of a field. Local. @throws Error */
  void set_tolerance(const std::string& field, double absolute) {
    detail::check(anadrome_set_tolerance(live().run, field.c_str(), absolute));
  }

  /** With unknown steps: the sweep ended after `steps` steps in all. @throws Error */
  void finish_forward(std::int64_t steps) {
    detail::check(anadrome_finish_forward(live().run, steps));
  }

  /** Run a whole sweep with callbacks, whose exceptions pass through. Collective. @throws Error */
  void solve(std::int64_t steps, const Model& model) {
    live().thrown = nullptr;
    detail::Callbacks context = {&live(), &model};
    const anadrome_model callbacks = detail::callbacks_of(model, context);
    live().check(anadrome_solve(live().run, steps, &callbacks));
  }

  /** Check the gradient that the model's adjoint computes, in place of solve:
   * anadrome_check_gradient. Collective. A wrong gradient is what the result says, and no failure.
   * An exception of a callback passes through. @throws Error */
  GradientCheck check_gradient(std::int64_t steps, const Model& model, const Gradient& gradient) {
    live().thrown = nullptr;
    detail::Callbacks of_model = {&live(), &model};
    detail::GradientCallbacks of_gradient = {&live(), &gradient};
    const anadrome_model callbacks = detail::callbacks_of(model, of_model);
    anadrome_gradient functions = anadrome_gradient();
    functions.size = sizeof functions;
    functions.context = &of_gradient;
    if (gradient.perturb) functions.perturb = &detail::GradientCallbacks::perturb;
    if (gradient.objective) functions.objective = &detail::GradientCallbacks::objective;
    if (gradient.derivative) functions.derivative = &detail::GradientCallbacks::derivative;
    if (gradient.mask) functions.mask = &detail::GradientCallbacks::mask;
    functions.pairs = gradient.pairs.c_str();
    functions.seeds = gradient.seeds;
    functions.epsilon = gradient.epsilon;
    functions.product_steps = gradient.product_steps;
    functions.report = gradient.report.c_str();
    GradientCheck check = GradientCheck();
    check.size = sizeof check;
    live().check(anadrome_check_gradient(live().run, steps, &callbacks, &functions, &check));
    return check;
  }

  /** Say that this rank cannot go on, and why; then go on with the actions. @throws Error */
  void fail(const std::string& why) { detail::check(anadrome_fail(live().run, why.c_str())); }
  /** Ask for the sweep to stop. Async-signal-safe. */
  void request_stop() noexcept { anadrome_request_stop(handle()); }

  /** What this rank has done and will do. @throws Error */
  anadrome_stats statistics() const {
    anadrome_stats stats = anadrome_stats();
    stats.size = sizeof stats;
    detail::check(anadrome_statistics(live().run, &stats));
    return stats;
  }

  /** The handle, for functions of anadrome.h; it stays this object's. */
  anadrome_run* handle() const noexcept { return live_ ? live_->run : nullptr; }

 private:
  detail::Live& live() const {
    if (live_) return *live_;
    throw Error(ANADROME_ERR_ARGUMENT,
                "this anadrome::Run was moved from; use the object that it was moved to");
  }

  std::unique_ptr<detail::Live> live_;
};

}  // namespace client
}  // namespace anadrome

#endif
