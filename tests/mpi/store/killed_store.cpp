// SPDX-License-Identifier: BSD-2-Clause
// A program that is killed while its store writes and reads.
#include <anadrome/store.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(nullptr, nullptr);
  const std::string options = "memory=1MiB directory=" + std::string(argv[1]);
  anadrome_store* store = nullptr;
  if (anadrome_store_open(MPI_COMM_WORLD, options.c_str(), &store) != ANADROME_OK) return 3;
  std::vector<double> values(20000);
  const anadrome_part part = {"u", ANADROME_FLOAT64, values.size(), values.data()};
  for (int key = 0; key < 100; ++key) anadrome_store_put(store, key, 1, &part);
  for (int key = 0; key < 50; ++key) anadrome_store_get(store, key, 1, &part);
  kill(getpid(), SIGKILL);
  return 4;
}
