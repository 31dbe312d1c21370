// A model whose steps give another state when they are run again is noticed.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi_main.h"

namespace {

using namespace anadrome::test;

struct Result {
  anadrome_status status;
  std::string message;
};

/// A sweep whose steps, on one rank and from `differs_from` on, depend on how often they were run.
Result sweep(const char* audit, std::int64_t differs_from, bool exchanged = false) {
  anadrome_run* run = nullptr;
  EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run), ANADROME_OK);
  std::vector<double> x(exchanged ? 200000 : 600, 1.0);
  anadrome_set(run, "schedule", "async");
  anadrome_set(run, "interval", "3");
  anadrome_set(run, "memory", exchanged ? "12MiB" : "60KiB");
  anadrome_set(run, "directory", directory().c_str());
  anadrome_set(run, "warnings", "off");
  EXPECT_EQ(anadrome_set(run, "audit", audit), ANADROME_OK) << anadrome_last_error();
  int field = -1;
  if (exchanged) {
    anadrome_add_exchanged(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.size(), &field);
  } else {
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), x.size());
  }
  Result result{anadrome_begin(run, 40), ""};
  if (exchanged) std::copy(x.begin(), x.end(), static_cast<double*>(anadrome_then(run, field)));
  anadrome_action action;
  while (result.status == ANADROME_OK) {
    result.status = anadrome_next(run, &action);
    if (result.status != ANADROME_OK) result.message = anadrome_last_error();
    if (result.status != ANADROME_OK || action.kind == ANADROME_DONE) break;
    if (action.kind != ANADROME_ADVANCE) continue;
    for (std::int64_t k = action.first; k < action.last; ++k) {
      const double* now =
          exchanged ? static_cast<const double*>(anadrome_now(run, field)) : x.data();
      double* then = exchanged ? static_cast<double*>(anadrome_then(run, field)) : x.data();
      const bool other = action.again != 0 && k >= differs_from && rank() == ranks() - 1;
      for (std::size_t i = 0; i < x.size(); ++i) then[i] = 0.9 * now[i] + (other ? 1e-15 : 0.0);
    }
  }
  EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
  return result;
}

TEST(Audit, ModelsThatRepeatPass) {
  for (const char* audit : {"off", "warn", "error"}) {
    EXPECT_EQ(sweep(audit, 1000).status, ANADROME_OK) << audit;
    EXPECT_EQ(sweep(audit, 1000, true).status, ANADROME_OK) << audit;
  }
}

TEST(Audit, ModelsThatDoNotRepeatAreAnErrorOnAllRanks) {
  for (const bool exchanged : {false, true}) {
    const Result result = sweep("error", 9, exchanged);
    EXPECT_EQ(result.status, ANADROME_ERR_NONDETERMINISTIC) << result.message;
    EXPECT_NE(result.message.find("the state of step "), std::string::npos) << result.message;
  }
}

TEST(Audit, OtherwiseTheSweepGoesOn) {
  EXPECT_EQ(sweep("warn", 0).status, ANADROME_OK);
  EXPECT_EQ(sweep("off", 0).status, ANADROME_OK);
}

}  // namespace
