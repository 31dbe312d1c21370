// SPDX-License-Identifier: BSD-2-Clause
// HIP's runtime. A device is its number, as a pointer that is never NULL.
#include <cstddef>
#include <cstdint>

#include "device/drivers.h"

namespace anadrome::device {
namespace {

constexpr int kNotReady = 600;
constexpr int kNumberOfPointer = 9, kAnyDirection = 4;
constexpr unsigned kNonBlocking = 1, kPortable = 1;

struct Hip {
  int (*current)(int* device);
  int (*set)(int device);
  int (*attribute)(void* data, int attribute, void* pointer);
  int (*make_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*make_event)(void** event);
  int (*destroy_event)(void* event);
  int (*record)(void* event, void* stream);
  int (*query)(void* event);
  int (*wait)(void* stream, void* event, unsigned flags);
  int (*elapsed)(float* milliseconds, void* begin, void* end);
  int (*copy)(void* to, const void* from, std::size_t bytes, int direction, void* stream);
  int (*pin)(void* memory, std::size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*allocate)(void** memory, std::size_t bytes);
  int (*release)(void* memory);
  const char* (*text)(int error);
};
Hip hip;
thread_local int device_before;  // enter and leave come in pairs, never one in another

int owner(void*, const void* pointer, void** device) {
  int number = 0;
  const int code = pointer == nullptr
                       ? hip.current(&number)
                       : hip.attribute(&number, kNumberOfPointer, const_cast<void*>(pointer));
  *device = reinterpret_cast<void*>(std::intptr_t{number} + 1);
  return code;
}

int enter(void*, void* device) {
  const int code = hip.current(&device_before);
  return code != 0 ? code : hip.set(static_cast<int>(reinterpret_cast<std::intptr_t>(device) - 1));
}

int query(void*, void* event) {
  const int code = hip.query(event);
  return code == kNotReady ? -1 : code;
}

int seconds(void*, void* begin, void* end, double* seconds) {
  float milliseconds = 0;
  const int code = hip.elapsed(&milliseconds, begin, end);
  *seconds = 1e-3 * milliseconds;
  return code;
}

bool find_functions(const char* library) {
  Functions functions(library);
  functions.find("hipGetDevice", hip.current);
  functions.find("hipSetDevice", hip.set);
  functions.find("hipPointerGetAttribute", hip.attribute);
  functions.find("hipStreamCreateWithFlags", hip.make_stream);
  functions.find("hipStreamDestroy", hip.destroy_stream);
  functions.find("hipEventCreate", hip.make_event);
  functions.find("hipEventDestroy", hip.destroy_event);
  functions.find("hipEventRecord", hip.record);
  functions.find("hipEventQuery", hip.query);
  functions.find("hipStreamWaitEvent", hip.wait);
  functions.find("hipEventElapsedTime", hip.elapsed);
  functions.find("hipMemcpyAsync", hip.copy);
  functions.find("hipHostRegister", hip.pin);
  functions.find("hipHostUnregister", hip.unpin);
  functions.find("hipMalloc", hip.allocate);
  functions.find("hipFree", hip.release);
  functions.find("hipGetErrorString", hip.text);
  return functions.complete();
}

}  // namespace

std::shared_ptr<const anadrome_device_operations> loaded_hip() {
  if (!find_functions("libamdhip64.so.7") && !find_functions("libamdhip64.so.6") &&
      !find_functions("libamdhip64.so.5") && !find_functions("libamdhip64.so")) {
    return nullptr;
  }
  anadrome_device_operations table = {};
  table.size = sizeof table;
  table.owner = owner;
  table.enter = enter;
  table.leave = [](void*) { return hip.set(device_before); };
  table.make_stream = [](void*, void** stream) { return hip.make_stream(stream, kNonBlocking); };
  table.destroy_stream = [](void*, void* stream) { return hip.destroy_stream(stream); };
  table.make_event = [](void*, void** event) { return hip.make_event(event); };
  table.destroy_event = [](void*, void* event) { return hip.destroy_event(event); };
  table.record = [](void*, void* event, void* stream) { return hip.record(event, stream); };
  table.query = query;
  table.follow = [](void*, void* stream, void* event) { return hip.wait(stream, event, 0); };
  table.seconds = seconds;
  table.copy = [](void*, void* to, const void* from, std::size_t bytes, void* stream) {
    return hip.copy(to, from, bytes, kAnyDirection, stream);
  };
  table.pin = [](void*, void* memory, std::size_t bytes) {
    return hip.pin(memory, bytes, kPortable);
  };
  table.unpin = [](void*, void* memory) { return hip.unpin(memory); };
  table.allocate = [](void*, std::size_t bytes, void** memory) {
    return hip.allocate(memory, bytes);
  };
  table.release = [](void*, void* memory) { return hip.release(memory); };
  table.error = [](void*, int code) { return hip.text(code); };
  return std::make_shared<const anadrome_device_operations>(table);
}

}  // namespace anadrome::device
