// SPDX-License-Identifier: BSD-2-Clause
// The threads of the system, behind the functions that threads.cpp puts in their place.
#pragma once

#include <pthread.h>

namespace anadrome::simulation {

int start_real_thread(pthread_t* thread, void* (*body)(void*), void* argument);
void join_real_thread(pthread_t thread);
/// Threads that take turns do so sooner on one core than on two: of those that there are, one by
/// its number.
void stay_on_a_core(int number);
/// Seconds of the system's clock.
double real_seconds();

}  // namespace anadrome::simulation
