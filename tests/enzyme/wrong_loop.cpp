// SPDX-License-Identifier: BSD-2-Clause
// wrong_loop CASE: a loop that cannot go on, for what it says.
#include <anadrome/enzyme.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "driver.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  const EnzymeCheckpointScheme& scheme = *anadrome_enzyme_scheme();
  anadrome_enzyme_data data = {sizeof data, MPI_COMM_SELF, "memory=1MiB disk=0"};
  if (what == "no-memory") data.options = "schedule=revolve slots=3";
  if (what == "option") data.options = "memory=1MiB scheduel=revolve";
  if (what == "slots") data.options = "memory=1MiB slots=few";
  if (what == "steps") data.options = "memory=1MiB steps=7";
  if (what == "size") data.size = 3;
  void* const state = scheme.init(&data, 10, 800);
  anadrome::test::Model model(100);
  const auto regions = model.regions(what == "space" ? 3 : 0);
  if (what == "space") scheme.store(state, 0, 0, regions.data(), regions.size());
  if (what == "slot") scheme.restore(state, 4, 0, regions.data(), regions.size());
  std::printf("it went on\n");
  MPI_Finalize();
}
