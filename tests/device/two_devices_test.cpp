// SPDX-License-Identifier: BSD-2-Clause
// State fields of a rank on two devices, without slots there: each block of the host is ready when
// both copies are.
#include <anadrome/device.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device_run.h"
#include "fake_device.h"
#include "mpi_main.h"
#include "own_loop.h"

namespace {

using namespace anadrome::test;
using fake_device::at;

// A context, a stream and an array in it.
struct Place {
  void* context = fake_device::make_context();
  void* stream = fake_device::make_stream();
  double* values = static_cast<double*>(fake_device::allocate(kElements * sizeof(double)));

  void set(double value) const {
    fake_device::enter(context);
    fake_device::launch(stream, [to = values, value] { std::fill_n(at(to), kElements, value); });
    fake_device::leave();
  }
  double get() const {
    fake_device::enter(context);
    fake_device::synchronize(stream);
    fake_device::leave();
    double value = 0;
    fake_device::read(&value, values + kElements - 1, sizeof value);
    return value;
  }
};

TEST(TwoDevices, HoldEachTheirFields) {
  for (const char* options :
       {"schedule=revolve memory=4MiB", "schedule=async interval=3 memory=6MiB",
        "schedule=async interval=1 checkpoints=1 memory=6MiB"}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Place u, v;
      fake_device::seed(seed);
      Handle run(options);
      for (const Place* place : {&u, &v}) {
        ASSERT_EQ(
            anadrome_add_device_field(run, place == &u ? "u" : "v", ANADROME_ROLE_STATE,
                                      ANADROME_FLOAT64, place->values, kElements, place->stream),
            ANADROME_OK);
      }
      ASSERT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
      u.set(0);
      v.set(1000);
      const auto act = [&](const anadrome_action& action) {
        if (action.kind == ANADROME_ADVANCE) {
          u.set(static_cast<double>(action.last));
          v.set(1000 + static_cast<double>(action.last));
        } else if (action.kind == ANADROME_ADJOINT) {
          EXPECT_EQ(u.get(), static_cast<double>(action.first)) << options;
          EXPECT_EQ(v.get(), 1000 + static_cast<double>(action.first)) << options;
        }
      };
      EXPECT_EQ(follow(run, ANADROME_OK, act), ANADROME_OK) << anadrome_last_error();
      EXPECT_EQ(run.close(), ANADROME_OK);
    }
  }
}

}  // namespace
