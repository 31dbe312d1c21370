// SPDX-License-Identifier: BSD-2-Clause
// Mutexes, condition variables, threads, clocks and sleeps of a simulated job. The linker takes
// these functions for the whole program, its shared libraries included; outside a world they leave
// one thread alone.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "real_threads.h"
#include "world.h"

namespace anadrome::simulation {
namespace {

struct Held {
  Thread* by = nullptr;
  int times = 0;
};
std::unordered_map<const void*, Held>& held() {
  static auto* all = new std::unordered_map<const void*, Held>;
  return *all;
}
std::unordered_map<pthread_t, Thread*>& started() {
  static auto* all = new std::unordered_map<pthread_t, Thread*>;
  return *all;
}

bool is_recursive(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE;
}

int take(pthread_mutex_t* mutex) {
  Held& now = held()[mutex];
  now.by = self();
  ++now.times;
  return 0;
}

int lock(pthread_mutex_t* mutex, const char* where) {
  if (self() == nullptr) return 0;
  world()->pause();
  for (;;) {
    const auto found = held().find(mutex);
    if (found == held().end()) return take(mutex);
    if (found->second.by == self()) {
      if (is_recursive(mutex)) return take(mutex);
      world()->end(kHang, "a thread locks a mutex that it has");
    }
    world()->wait_for(mutex, where);
  }
}

int unlock(pthread_mutex_t* mutex) {
  if (self() == nullptr) return 0;
  const auto found = held().find(mutex);
  if (found == held().end()) return 0;  // locked before the world began
  if (--found->second.times > 0) return 0;
  held().erase(found);
  world()->wake_all(mutex);
  return 0;
}

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
timespec timespec_of(double seconds) {
  timespec time;
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  return time;
}

constexpr double kCalendar = 1.7e9;  // seconds since 1970 when a world begins

int wait(pthread_cond_t* condition, pthread_mutex_t* mutex, double seconds) {
  if (self() == nullptr) return 0;
  unlock(mutex);
  bool woken = true;
  // Now and then a thread is woken for nothing, as POSIX allows.
  if (world()->draw(16) != 0) {
    woken = world()->wait_for(condition, "a condition variable", seconds);
  } else {
    world()->pause();
  }
  lock(mutex, "the mutex of a condition variable");
  return woken ? 0 : ETIMEDOUT;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Start {
  void* (*body)(void*);
  void* argument;
  Thread* thread;
};

void* run(void* arguments) {
  const Start start = *static_cast<Start*>(arguments);
  delete static_cast<Start*>(arguments);
  world()->enter(start.thread);
  void* result = start.body(start.argument);
  world()->leave();
  return result;
}

}  // namespace

int start_real_thread(pthread_t* thread, void* (*body)(void*), void* argument) {
  static auto* const create =
      real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{512} << 10);
  const int failed = create(thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return failed;
}

void join_real_thread(pthread_t thread) {
  static auto* const join = real<int(pthread_t, void**)>("pthread_join");
  join(thread, nullptr);
}

void stay_on_a_core(int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0, left = number % std::max(CPU_COUNT(&allowed), 1); core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

double real_seconds() {
  timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return seconds_of(time);
}

std::string left_in_threads() {
  return held().empty() ? "" : std::to_string(held().size()) + " mutexes are held; ";
}

}  // namespace anadrome::simulation

using namespace anadrome::simulation;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept { return lock(mutex, "a mutex"); }
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept { return unlock(mutex); }
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (self() == nullptr) return 0;
  world()->pause();
  const auto found = held().find(mutex);
  if (found == held().end() || (found->second.by == self() && is_recursive(mutex)))
    return take(mutex);
  return EBUSY;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait(condition, mutex, -1);
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  timespec now;
  clock_gettime(clock, &now);
  const double left = seconds_of(*until) - seconds_of(now);
  return wait(condition, mutex, left > 0 ? left : 0);
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, until);
}
int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (self() != nullptr) world()->wake_one(condition);
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (self() != nullptr) world()->wake_all(condition);
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t*, void* (*body)(void*),
                   void* argument) noexcept {
  if (self() == nullptr) return start_real_thread(thread, body, argument);
  auto* start = new Start{body, argument, world()->start(self()->rank, "thread")};
  const int failed = start_real_thread(thread, &run, start);
  if (failed != 0) world()->end(kLeft, "the system refuses a thread");
  started()[*thread] = start->thread;
  world()->pause();
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  const auto found = started().find(thread);
  if (self() != nullptr && found != started().end()) {
    const Thread* other = found->second;
    while (!other->finished) world()->wait_for(other, "the end of a thread");
    started().erase(thread);
  }
  if (result != nullptr) *result = nullptr;
  join_real_thread(thread);
  return 0;
}

int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  const auto found = started().find(thread);
  if (found != started().end()) found->second->name = name;
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (self() == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      *time = timespec_of(kCalendar + world()->now());
      return 0;
    case CLOCK_THREAD_CPUTIME_ID:
    case CLOCK_PROCESS_CPUTIME_ID:
      *time = timespec_of(self()->computed);
      return 0;
    default:
      *time = timespec_of(world()->now());
      return 0;
  }
}

int nanosleep(const timespec* time, timespec*) {
  if (self() == nullptr) return static_cast<int>(syscall(SYS_nanosleep, time, nullptr));
  world()->spend(seconds_of(*time), "a sleep");
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec*) {
  timespec now;
  clock_gettime(clock, &now);
  const double left = seconds_of(*time) - (flags == TIMER_ABSTIME ? seconds_of(now) : 0);
  const timespec rest = timespec_of(left > 0 ? left : 0);
  return nanosleep(&rest, nullptr);
}
int usleep(useconds_t microseconds) {
  const timespec time = timespec_of(1e-6 * microseconds);
  return nanosleep(&time, nullptr);
}
int sched_yield() noexcept {
  if (self() != nullptr) world()->spend(1e-6, "a yield");
  return 0;
}

/// Each node has a name of its own.
int gethostname(char* name, size_t length) noexcept {
  if (self() == nullptr) {
    std::snprintf(name, length, "node0");
  } else {
    std::snprintf(name, length, "node%d", world()->node_of(self()->rank));
  }
  return 0;
}

}  // extern "C"
