// SPDX-License-Identifier: BSD-2-Clause
// A loop of Enzyme's whose snapshots have a region in a device's global memory, address space 1.
#include <anadrome/enzyme.h>
#include <gtest/gtest.h>

#include <string>

#include "driver.h"
#include "fake_device.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

constexpr std::size_t kSize = 3000;

// Its kernels are queued on the default stream; `u` is a copy for them.
class OnDevice final : public Model {
 public:
  explicit OnDevice(std::size_t size)
      : Model(size), there_(static_cast<double*>(fake_device::allocate(size * 8))) {
    write();
  }
  ~OnDevice() override { fake_device::release(there_); }

  void step(std::int64_t i) override {
    read();
    Model::step(i);
    write();
  }
  void reverse(std::int64_t i) override {
    read();
    for (std::size_t j = 0; j < u.size(); ++j) adjoint[j] *= 1 + 0.01 * (1 - 2 * u[j]);
    Model::step(i);
    write();
    ++turns;
  }
  std::vector<EnzymeCkptRegion> regions(std::uint32_t) override {
    return {{there_, sizeof(double) * u.size(), 1, 0}, {&counter, sizeof counter, 0, 0}};
  }

 private:
  void read() {
    fake_device::synchronize(nullptr);
    fake_device::read(u.data(), there_, u.size() * sizeof(double));
  }
  void write() {
    fake_device::launch(nullptr, [to = there_, values = u] {
      std::copy(values.begin(), values.end(), fake_device::at(to));
    });
  }
  double* there_;
};

TEST(EnzymeOnADevice, GivesTheGradientOfTheHost) {
  fake_device::make_context();
  for (const char* options : {"memory=300KiB", "memory=400KiB schedule=async slots=8 interval=4"}) {
    const std::string all = std::string(options) + " directory=" + directory();
    const anadrome_enzyme_data data = {sizeof data, MPI_COMM_WORLD, all.c_str()};
    Model expected(kSize);
    Driver host(*anadrome_enzyme_scheme(), expected);
    host.run(const_cast<anadrome_enzyme_data*>(&data), 37, true);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      fake_device::seed(seed);
      OnDevice model(kSize);
      Driver driver(*anadrome_enzyme_scheme(), model);
      driver.run(const_cast<anadrome_enzyme_data*>(&data), 37, true);
      EXPECT_EQ(driver.faults(), 0);
      EXPECT_EQ(model.adjoint, expected.adjoint);
    }
  }
}

}  // namespace
