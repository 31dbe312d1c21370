// SPDX-License-Identifier: BSD-2-Clause
// CUDA's driver. A device is a context: that in which the caller's memory was allocated. None is
// made here, and cuInit is the caller's.
#include <cstddef>

#include "device/drivers.h"

namespace anadrome::device {
namespace {

constexpr int kNotReady = 600, kInvalidContext = 201;
constexpr int kContextOfPointer = 1, kNumberOfPointer = 9;
constexpr unsigned kNonBlocking = 1, kPortable = 1;

struct Cuda {
  int (*current)(void** context);
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*attribute)(void* data, int attribute, std::size_t pointer);
  int (*make_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*make_event)(void** event, unsigned flags);
  int (*destroy_event)(void* event);
  int (*record)(void* event, void* stream);
  int (*query)(void* event);
  int (*wait)(void* stream, void* event, unsigned flags);
  int (*elapsed)(float* milliseconds, void* begin, void* end);
  int (*copy)(std::size_t to, std::size_t from, std::size_t bytes, void* stream);
  int (*pin)(void* memory, std::size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*allocate)(std::size_t* memory, std::size_t bytes);
  int (*release)(std::size_t memory);
  int (*text)(int error, const char** text);
};
Cuda cuda;

std::size_t address(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }

// Memory of a pool (cuMemAllocAsync) has a device and no context: the thread's is taken.
int owner(void*, const void* pointer, void** device) {
  int number = 0;
  *device = nullptr;
  if (pointer != nullptr) {
    const int code = cuda.attribute(&number, kNumberOfPointer, address(pointer));
    if (code != 0) return code;
    if (cuda.attribute(device, kContextOfPointer, address(pointer)) != 0) *device = nullptr;
  }
  const int code = *device == nullptr ? cuda.current(device) : 0;
  return code == 0 && *device == nullptr ? kInvalidContext : code;
}

int leave(void*) {
  void* context = nullptr;
  return cuda.pop(&context);
}

int query(void*, void* event) {
  const int code = cuda.query(event);
  return code == kNotReady ? -1 : code;
}

int seconds(void*, void* begin, void* end, double* seconds) {
  float milliseconds = 0;
  const int code = cuda.elapsed(&milliseconds, begin, end);
  *seconds = 1e-3 * milliseconds;
  return code;
}

int allocate(void*, std::size_t bytes, void** memory) {
  std::size_t place = 0;
  const int code = cuda.allocate(&place, bytes);
  *memory = reinterpret_cast<void*>(place);
  return code;
}

const char* text_of(void*, int code) {
  const char* text = nullptr;
  return cuda.text(code, &text) == 0 ? text : nullptr;
}

bool find_functions() {
  Functions functions("libcuda.so.1");
  functions.find("cuCtxGetCurrent", cuda.current);
  functions.find("cuCtxPushCurrent_v2", cuda.push);
  functions.find("cuCtxPopCurrent_v2", cuda.pop);
  functions.find("cuPointerGetAttribute", cuda.attribute);
  functions.find("cuStreamCreate", cuda.make_stream);
  functions.find("cuStreamDestroy_v2", cuda.destroy_stream);
  functions.find("cuEventCreate", cuda.make_event);
  functions.find("cuEventDestroy_v2", cuda.destroy_event);
  functions.find("cuEventRecord", cuda.record);
  functions.find("cuEventQuery", cuda.query);
  functions.find("cuStreamWaitEvent", cuda.wait);
  functions.find("cuEventElapsedTime", cuda.elapsed);
  functions.find("cuMemcpyAsync", cuda.copy);
  functions.find("cuMemHostRegister_v2", cuda.pin);
  functions.find("cuMemHostUnregister", cuda.unpin);
  functions.find("cuMemAlloc_v2", cuda.allocate);
  functions.find("cuMemFree_v2", cuda.release);
  functions.find("cuGetErrorString", cuda.text);
  return functions.complete();
}

}  // namespace

std::shared_ptr<const anadrome_device_operations> loaded_cuda() {
  if (!find_functions()) return nullptr;
  anadrome_device_operations table = {};
  table.size = sizeof table;
  table.owner = owner;
  table.enter = [](void*, void* device) { return cuda.push(device); };
  table.leave = leave;
  table.make_stream = [](void*, void** stream) { return cuda.make_stream(stream, kNonBlocking); };
  table.destroy_stream = [](void*, void* stream) { return cuda.destroy_stream(stream); };
  table.make_event = [](void*, void** event) { return cuda.make_event(event, 0); };
  table.destroy_event = [](void*, void* event) { return cuda.destroy_event(event); };
  table.record = [](void*, void* event, void* stream) { return cuda.record(event, stream); };
  table.query = query;
  table.follow = [](void*, void* stream, void* event) { return cuda.wait(stream, event, 0); };
  table.seconds = seconds;
  table.copy = [](void*, void* to, const void* from, std::size_t bytes, void* stream) {
    return cuda.copy(address(to), address(from), bytes, stream);
  };
  table.pin = [](void*, void* memory, std::size_t bytes) {
    return cuda.pin(memory, bytes, kPortable);
  };
  table.unpin = [](void*, void* memory) { return cuda.unpin(memory); };
  table.allocate = allocate;
  table.release = [](void*, void* memory) { return cuda.release(address(memory)); };
  table.error = text_of;
  return std::make_shared<const anadrome_device_operations>(table);
}

}  // namespace anadrome::device
