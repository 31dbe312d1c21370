// SPDX-License-Identifier: BSD-2-Clause
// The calls of both interfaces, with errors as CUDA numbers them; HIP has the same numbers.
#pragma once

#include <cstddef>

namespace fake_device::core {

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidContext = 201, kInvalidHandle = 400,
              kNotReady = 600, kFailed = 700, kDestroyed = 709, kAlreadyPinned = 712,
              kNotPinned = 713;

int current(void** context);
/// Of which HIP takes all threads to be, from the start.
void* first_context();
int push(void* context);
int pop(void** context);
int context_of(const void* pointer, void** context);
int make_stream(void** stream);
int destroy_stream(void* stream);
int make_event(void** event);
int destroy_event(void* event);
int record(void* event, void* stream);
int query(void* event);
int follow(void* stream, void* event);
int elapsed(float* milliseconds, void* begin, void* end);
int copy(void* to, const void* from, std::size_t bytes, void* stream);
int pin(void* memory, std::size_t bytes);
int unpin(void* memory);
int allocate(void** memory, std::size_t bytes);
int release(void* memory);

}  // namespace fake_device::core
