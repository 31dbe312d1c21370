// SPDX-License-Identifier: BSD-2-Clause
// anadrome::Store: handles, parts and views of C++.
#include <gtest/gtest.h>
#include <anadrome/store.hpp>

#include <array>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi_main.h"

namespace {

anadrome::Store open(const std::string& more = "") {
  return anadrome::Store(MPI_COMM_WORLD,
                         "memory=256KiB directory=" + anadrome::test::directory() + more);
}

TEST(CxxStore, HoldsObjectsOfParts) {
  anadrome::Store store = open();
  for (std::int64_t key = 0; key < 50; ++key) {
    const std::vector<double> u(3000, static_cast<double>(key));
    std::array<std::complex<float>, 3> v{{{1, 2}, {3, 4}, {5, static_cast<float>(key)}}};
    store.put(key, {{"u", u}, {"v", v}});
  }
  store.sync();
  for (std::int64_t key = 50; key-- > 0;) {
    std::vector<double> u(3000);
    std::vector<std::complex<float>> v(3);
    store.get(key, {{"v", v.data(), v.size()}, {"u", u}});
    ASSERT_EQ(u, std::vector<double>(3000, static_cast<double>(key)));
    ASSERT_EQ(v[2].imag(), static_cast<float>(key));
    if (key > 1) store.drop(key);
  }
  EXPECT_EQ(store.keys(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_TRUE(store.contains(1));
  EXPECT_GT(store.statistics().bytes_read, 0);
}

template <class... From>
constexpr bool gets_into = std::is_constructible_v<anadrome::Part, const char*, From...>;
static_assert(gets_into<std::vector<double>&> && gets_into<float*, int>);
static_assert(!gets_into<const std::vector<double>&> && !gets_into<const float*, int>);

TEST(CxxStore, PutsWhatIsConstAndListsOfParts) {
  anadrome::Store store = open();
  const std::vector<double> u = {1, 2, 3};
  std::vector<double> v(3), w = {4, 5, 6};
  const std::vector<anadrome::ConstPart> from = {{"u", u}, {"w", w.data(), w.size()}};
  store.put(1, from);
  const std::vector<anadrome::Part> both = {{"u", v}, {"w", w}};
  store.put(2, both);
  store.put(3, {both[1], {"u", u}});
  for (const std::int64_t key : {3, 1}) {
    v.assign(3, 0);
    w.assign(3, 0);
    store.get(key, both);
    EXPECT_EQ(v, u);
    EXPECT_EQ(w, (std::vector<double>{4, 5, 6}));
  }
}

TEST(CxxStore, ThrowsWhatTheLibrarySays) {
  anadrome::Store store = open();
  try {
    store.drop(3);
    FAIL();
  } catch (const anadrome::Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    EXPECT_STREQ(error.what(), "ANADROME_ERR_ARGUMENT: there is no object 3");
  }
  anadrome::Store moved = std::move(store);
  moved.expect({1, 2, 3});
  moved.close();
  moved.close();
  EXPECT_THROW(moved.drop(3), anadrome::Error);
}

TEST(CxxStore, ReleasesAViewAtTheEndOfItsLife) {
  anadrome::Store store = open();
  const std::vector<std::int64_t> u = {1, 2, 3};
  store.put(1, {{"u", u}});
  {
    anadrome::View view = store.view(1, "u", 8);
    anadrome::View moved = std::move(view);
    ASSERT_EQ(moved.size(), 16);
    EXPECT_EQ(view.size(), 0);
    EXPECT_EQ(std::memcmp(moved.data(), u.data() + 1, 16), 0);
    EXPECT_THROW(store.drop(1), anadrome::Error);
  }
  store.drop(1);
}

}  // namespace
