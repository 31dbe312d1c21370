// SPDX-License-Identifier: BSD-2-Clause
// For ctypes: what a program does on the fake device.
#include <cstring>

#include "fake_device.h"

extern "C" {
void* fake_make_context() { return fake_device::make_context(); }
void* fake_make_stream() { return fake_device::make_stream(); }
void fake_destroy_stream(void* stream) { fake_device::destroy_stream(stream); }
void* fake_allocate(std::size_t bytes) { return fake_device::allocate(bytes); }
void fake_release(void* memory) { fake_device::release(memory); }
void fake_seed(std::uint64_t seed) { fake_device::seed(seed); }
/// Queues u[i] = factor * u[i] * (1 - u[i]) + term.
void fake_logistic(void* stream, double* u, std::size_t count, double factor, double term) {
  fake_device::launch(stream, [=] {
    double* const x = fake_device::at(u);
    for (std::size_t i = 0; i < count; ++i) x[i] = factor * x[i] * (1 - x[i]) + term;
  });
}
/// Queues a[i] = factor * (1 - 2 u[i]) * a[i].
void fake_adjoint_logistic(void* stream, double* a, const double* u, std::size_t count,
                           double factor) {
  fake_device::launch(stream, [=] {
    double* const adjoint = fake_device::at(a);
    const double* const x = fake_device::at(u);
    for (std::size_t i = 0; i < count; ++i) adjoint[i] = factor * (1 - 2 * x[i]) * adjoint[i];
  });
}
/// Waits for the stream; `on_device`, `here`: memory there and in the process.
void fake_get(void* stream, void* here, const void* on_device, std::size_t bytes) {
  fake_device::synchronize(stream);
  fake_device::read(here, on_device, bytes);
}
void fake_put(void* stream, void* on_device, const void* here, std::size_t bytes) {
  fake_device::synchronize(stream);
  fake_device::write(on_device, here, bytes);
}
}
