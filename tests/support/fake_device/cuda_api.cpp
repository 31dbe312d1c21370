// SPDX-License-Identifier: BSD-2-Clause
// The functions of CUDA's driver, under the names by which they are looked up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core.h"
#include "fake_device.h"

namespace core = fake_device::core;

namespace {
void* pointer(std::size_t address) { return reinterpret_cast<void*>(address); }
}  // namespace

extern "C" {
// What a program calls that owns the device.
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "fake device");
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = fake_device::make_context();
  return 0;
}
int cuCtxSetCurrent(void* context) {
  void* current = nullptr;
  core::current(&current);
  return current == context ? 0 : core::push(context);
}
int cuStreamSynchronize(void* stream) {
  fake_device::synchronize(stream);
  return 0;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *memory == nullptr ? core::kOutOfMemory : 0;
}
int cuMemsetD32Async(std::size_t to, unsigned value, std::size_t count, void* stream) {
  auto* const words = static_cast<unsigned*>(pointer(to));
  fake_device::launch(stream, [=] { std::fill_n(fake_device::at(words), count, value); });
  return 0;
}

// What the library looks up.
int cuCtxGetCurrent(void** context) { return core::current(context); }
int cuCtxPushCurrent_v2(void* context) { return core::push(context); }
int cuCtxPopCurrent_v2(void** context) { return core::pop(context); }
int cuPointerGetAttribute(void* data, int attribute, std::size_t address) {
  void* context = nullptr;
  const int code = core::context_of(pointer(address), &context);
  if (code != 0) return code;
  constexpr int kContext = 1, kNumber = 9;
  if (attribute == kContext) *static_cast<void**>(data) = context;
  if (attribute == kNumber) *static_cast<int*>(data) = 0;
  return 0;
}
int cuStreamCreate(void** stream, unsigned) { return core::make_stream(stream); }
int cuStreamDestroy_v2(void* stream) { return core::destroy_stream(stream); }
int cuEventCreate(void** event, unsigned) { return core::make_event(event); }
int cuEventDestroy_v2(void* event) { return core::destroy_event(event); }
int cuEventRecord(void* event, void* stream) { return core::record(event, stream); }
int cuEventQuery(void* event) { return core::query(event); }
int cuStreamWaitEvent(void* stream, void* event, unsigned) { return core::follow(stream, event); }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return core::elapsed(milliseconds, begin, end);
}
int cuMemcpyAsync(std::size_t to, std::size_t from, std::size_t bytes, void* stream) {
  return core::copy(pointer(to), pointer(from), bytes, stream);
}
int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  return core::pin(memory, bytes);
}
int cuMemHostUnregister(void* memory) { return core::unpin(memory); }
int cuMemAlloc_v2(std::size_t* memory, std::size_t bytes) {
  void* place = nullptr;
  const int code = core::allocate(&place, bytes);
  *memory = reinterpret_cast<std::size_t>(place);
  return code;
}
int cuMemFree_v2(std::size_t memory) { return core::release(pointer(memory)); }
int cuGetErrorString(int, const char** text) {
  *text = "an error of the fake device";
  return 0;
}
}
