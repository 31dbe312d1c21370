// SPDX-License-Identifier: BSD-2-Clause
// bench_agreement: seconds of one agreement of the engine, beside the bare all-reduce in it and a
// barrier, in batches that take turns. CSV on standard output, a line per batch.
#include "engine/ranks/agreement.h"

#include <cinttypes>

#include "flags.h"
#include "guarded_main.h"

namespace {

using anadrome::engine::Agreement;
using anadrome::engine::Call;

template <class Body>
double seconds_each(std::int64_t count, const Body& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::int64_t i = 0; i < count; ++i) body();
  return (MPI_Wtime() - start) / static_cast<double>(count);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::guarded_main(argc, argv, [&] {
    bench::Flags flags(argc, argv);
    const std::int64_t count = flags.count("count", 2000);
    const std::int64_t batches = flags.count("batches", 20);
    flags.end();
    Agreement agreement(MPI_COMM_WORLD);
    std::array<std::int64_t, 27> slots{};
    if (agreement.rank() == 0) std::puts("ranks,batch,agreement,allreduce,barrier");
    for (std::int64_t batch = 0; batch <= batches; ++batch) {  // batch 0 is a warm-up
      const double agreed =
          seconds_each(count, [&] { agreement.agree({.call = Call::kAnchor, .failure = {}}); });
      const double reduced = seconds_each(count, [&] {
        MPI_Allreduce(MPI_IN_PLACE, slots.data(), static_cast<int>(slots.size()), MPI_INT64_T,
                      MPI_MAX, agreement.comm());
      });
      const double waited = seconds_each(count, [&] { MPI_Barrier(agreement.comm()); });
      if (agreement.rank() == 0)
        std::printf("%d,%" PRId64 ",%.9f,%.9f,%.9f\n", agreement.size(), batch, agreed, reduced,
                    waited);
    }
  });
}
