// SPDX-License-Identifier: BSD-2-Clause
// The functions of HIP's runtime. There is one device, and its context is the thread's as soon as
// it asks for one.
#include "core.h"

namespace core = fake_device::core;

namespace {
// Every call is about the device that the thread has set, which is 0 from its first call on.
template <class Call>
int on_device(const Call& call) {
  void* before = nullptr;
  core::current(&before);
  if (before != nullptr) return call();
  const int code = core::push(core::first_context());
  if (code != 0) return code;
  const int result = call();
  core::pop(&before);
  return result;
}
}  // namespace

extern "C" {
int hipGetDevice(int* device) { return *device = 0; }
int hipSetDevice(int device) { return device == 0 ? 0 : core::kInvalidValue; }
int hipPointerGetAttribute(void* data, int attribute, void* pointer) {
  constexpr int kNumber = 9;
  void* context = nullptr;
  if (attribute != kNumber) return core::kInvalidValue;
  const int code = core::context_of(pointer, &context);
  if (code == 0) *static_cast<int*>(data) = 0;
  return code;
}
int hipStreamCreateWithFlags(void** stream, unsigned) {
  return on_device([&] { return core::make_stream(stream); });
}
int hipStreamDestroy(void* stream) {
  return on_device([&] { return core::destroy_stream(stream); });
}
int hipEventCreate(void** event) {
  return on_device([&] { return core::make_event(event); });
}
int hipEventDestroy(void* event) {
  return on_device([&] { return core::destroy_event(event); });
}
int hipEventRecord(void* event, void* stream) {
  return on_device([&] { return core::record(event, stream); });
}
int hipEventQuery(void* event) {
  return on_device([&] { return core::query(event); });
}
int hipEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return core::elapsed(milliseconds, begin, end);
}
int hipStreamWaitEvent(void* stream, void* event, unsigned) {
  return on_device([&] { return core::follow(stream, event); });
}
int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int direction, void* stream) {
  constexpr int kAnyDirection = 4;
  if (direction != kAnyDirection) return core::kInvalidValue;
  return on_device([&] { return core::copy(to, from, bytes, stream); });
}
int hipHostRegister(void* memory, std::size_t bytes, unsigned) {
  return on_device([&] { return core::pin(memory, bytes); });
}
int hipHostUnregister(void* memory) { return core::unpin(memory); }
int hipMalloc(void** memory, std::size_t bytes) {
  return on_device([&] { return core::allocate(memory, bytes); });
}
int hipFree(void* memory) {
  return on_device([&] { return core::release(memory); });
}
const char* hipGetErrorString(int) { return "an error of the fake device"; }
}
