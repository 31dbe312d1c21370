// The monotonic clock, in seconds.
#pragma once

#include <chrono>
#include <ctime>

namespace anadrome {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of the calling thread.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Adds the time from construction to destruction to a sum.
class AddTime {
 public:
  explicit AddTime(double& sum) : sum_(sum), start_(now_seconds()) {}
  ~AddTime() { sum_ += now_seconds() - start_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  double& sum_;
  double start_;
};

}  // namespace anadrome
