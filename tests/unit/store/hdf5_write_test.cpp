// SPDX-License-Identifier: BSD-2-Clause
// The library's own ways with HDF5.
#include "store/files/hdf5_write.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {
namespace {

TEST(QuietHdf5, GivesTheErrorsBackWhereTheyWentBefore) {
  H5E_auto2_t before = nullptr, inside = nullptr, after = nullptr;
  void* ignored = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &ignored);
  {
    const QuietHdf5 quiet;
    H5Eget_auto2(H5E_DEFAULT, &inside, &ignored);
  }
  H5Eget_auto2(H5E_DEFAULT, &after, &ignored);
  EXPECT_EQ(inside, nullptr);
  EXPECT_EQ(after, before);
}

TEST(Hdf5Type, HasTheSizeOfAnElement) {
  for (int type = 0; type < 20; ++type) {
    const auto named = static_cast<anadrome_type>(type);
    if (element_bytes(named) == 0) continue;
    const Hdf5Type made = hdf5_type(named);
    EXPECT_EQ(static_cast<std::int64_t>(H5Tget_size(made.get())), element_bytes(named)) << type;
  }
}

TEST(Hdf5, NamesWhatItCouldNotDo) {
  EXPECT_EQ(checked(3, "count"), 3);
  const Failure failure = failure_from([&] { checked(-1, "open the door"); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_EQ(failure.message, "HDF5 could not open the door");
}

}  // namespace
}  // namespace anadrome::store
