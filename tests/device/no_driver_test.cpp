// SPDX-License-Identifier: BSD-2-Clause
// A process that has loaded no driver: a field on a device is refused in one sentence, and nothing
// else changes.
#include <anadrome/anadrome.h>
#include <anadrome/device.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

TEST(WithoutADriver, AFieldOnADeviceIsUnsupported) {
  anadrome_run* run = nullptr;
  double u = 1;
  ASSERT_EQ(anadrome_open(MPI_COMM_WORLD, &run), ANADROME_OK);
  EXPECT_EQ(
      anadrome_add_device_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &u, 1, nullptr),
      ANADROME_ERR_UNSUPPORTED);
  const std::string message = anadrome_last_error();
  EXPECT_NE(message.find("field 'u': no device has its memory"), std::string::npos) << message;
  int field = -1;
  EXPECT_EQ(anadrome_add_exchanged_on_device(run, "v", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 1,
                                             nullptr, &field),
            ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(field, -1);
  EXPECT_EQ(anadrome_begin(run, 1), ANADROME_ERR_UNSUPPORTED);
  anadrome_close(&run);
}

TEST(WithoutADriver, NothingIsLoadedInItsPlace) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    for (const char* library : {"libcuda", "libamdhip", "libcudart"})
      EXPECT_EQ(line.find(library), std::string::npos) << line;
  }
}

}  // namespace
