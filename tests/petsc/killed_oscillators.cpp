// SPDX-License-Identifier: BSD-2-Clause
// A program with TS and TSAdjoint that ends itself with SIGKILL where it is told to; it knows
// nothing of the trajectory's type and begins anew whenever it is started.
//   killed_oscillators OPTIONS [solves N] [events] [damped] [adjoint 0|1] [forward STEP]
//                     [reverse STEP] [rank R] [stiffness M] [start S] [size MS]
//                     [pieces P] [again A] [in I] [clock STEP] [forward_integral W] [integral W]
// `damped`: by a term of its own, which an implicit-explicit method takes implicitly.
// `clock`: it is set back to 0 after that step. The integral of W times the sum of all values is
// computed in the forward sweep, or in the reverse one.
// The way back is gone in P pieces; and A times, in solve I of which the program ends. They begin
// with the same gradients, which the second one doubles on the way. Each rank writes what it found,
// bit for bit, to found.<rank>.
#include <anadrome/petsc.h>
#include <petscts.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "oscillators.h"

namespace {

using namespace anadrome::test;

struct Told {
  int solves = 1, adjoint = 1, forward = -1, reverse = -1, rank = 0, stiffness = 3, start = 0;
  int pieces = 1, again = 1, size = 50;  ///< of the first step, in thousandths
  int clock = -1, forward_integral = 0, integral = 0;
  bool events = false, damped = false;
  int sweeps = 0, in = 0;      ///< adjoint solves so far; in which of them it is to end
  std::uintmax_t journal = 0;  ///< see smallest_journal, at the first step
} told;

// Bytes of the smallest of all ranks' journals: each of them grows by a commit.
std::uintmax_t smallest_journal() {
  std::uintmax_t least = std::numeric_limits<std::uintmax_t>::max();
  for (const auto& file : std::filesystem::directory_iterator("TS"))
    if (file.path().filename().string().starts_with("journal"))
      least = std::min(least, file.file_size());
  return least;
}

void end_at(PetscInt step, int where) {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (step != where || rank != told.rank) return;
  constexpr PetscInt kSoon = 10;
  while (step > kSoon && smallest_journal() <= told.journal) std::this_thread::yield();
  std::raise(SIGKILL);
}

PetscErrorCode watch_forward(TS, PetscInt step, PetscReal, Vec, void*) {
  const double start = MPI_Wtime();  // a step, in which states are written
  while (MPI_Wtime() - start < 1e-3) std::this_thread::yield();
  if (told.forward >= 0 && told.journal == 0) told.journal = smallest_journal();
  end_at(step, told.forward);
  return 0;
}

PetscErrorCode watch_reverse(TS, PetscInt step, PetscReal, Vec, PetscInt, Vec* lambda, Vec*,
                             void*) {
  if (told.sweeps == 1 && step == 100 && VecScale(lambda[0], 2) != 0) return PETSC_ERR_PLIB;
  if (told.sweeps == told.in) end_at(step, told.reverse);
  return 0;
}

// On all ranks: the first oscillator goes through zero, and the program is another one from then
// on.
template <class Value>
PetscErrorCode crossing(TS, PetscReal, Vec u, Value* value, void*) {
  const PetscScalar* x = nullptr;
  PetscInt first = 0;
  double position = 0;
  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(u, &first, nullptr));
  PetscCall(VecGetArrayRead(u, &x));
  if (first == 0) position = PetscRealPart(x[0]);
  PetscCall(VecRestoreArrayRead(u, &x));
  PetscCallMPI(MPI_Bcast(&position, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  *value = position;
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode switch_over(TS, PetscInt, PetscInt*, PetscReal, Vec, PetscBool, void* model) {
  double& stiffness = static_cast<Oscillators*>(model)->stiffness;
  stiffness = stiffness > 2.5 ? 2.25 : 3;
  return static_cast<PetscErrorCode>(0);
}

// u' + u / 10 = the oscillators' right-hand side.
constexpr double kDamping = 0.1;

PetscErrorCode damped_side(TS, PetscReal, Vec u, Vec rate, Vec f, void*) {
  return VecWAXPY(f, kDamping, u, rate);
}

PetscErrorCode damped_jacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat of_rate, void*) {
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(of_rate));
  PetscCall(MatShift(of_rate, shift + kDamping));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode weighted_sum(TS, PetscReal, Vec u, Vec to, void* weight) {
  PetscScalar sum = 0;
  PetscFunctionBeginUser;
  PetscCall(VecSum(u, &sum));
  PetscCall(VecSet(to, sum * static_cast<PetscReal>(*static_cast<int*>(weight))));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

#define MUST(call)                                   \
  do {                                               \
    if ((call) != 0) MPI_Abort(PETSC_COMM_WORLD, 9); \
  } while (0)

void integrate(Oscillators& model, PetscBool in_forward, int& weight) {
  if (weight != 0)
    model.integrate(in_forward, {weighted_sum, &weight, 0, 1, static_cast<PetscReal>(weight)});
}

void run(const std::string& options) {
  Oscillators::pairs = 4200;  // a state is a write of its own
  Oscillators model(options);
  const TS ts = model.ts();
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MUST(TSMonitorSet(ts, watch_forward, nullptr, nullptr));
  MUST(TSAdjointMonitorSet(ts, watch_reverse, nullptr, nullptr));
  Mat of_rate = nullptr;
  if (told.damped) {
    PetscInt local = 0;
    MUST(VecGetLocalSize(model.solution(), &local));
    MUST(MatCreateAIJ(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr,
                      0, nullptr, &of_rate));
    MUST(MatAssemblyBegin(of_rate, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(of_rate, MAT_FINAL_ASSEMBLY));
    MUST(TSSetIFunction(ts, nullptr, damped_side, nullptr));
    MUST(TSSetIJacobian(ts, of_rate, of_rate, damped_jacobian, nullptr));
  }
  if (told.events) {
    PetscInt direction = 0;
    PetscBool terminate = PETSC_FALSE;
#if PETSC_VERSION_LT(3, 21, 0)
    const auto indicator = crossing<PetscScalar>;
#else
    const auto indicator = crossing<PetscReal>;
#endif
    MUST(TSSetEventHandler(ts, 1, &direction, &terminate, indicator, switch_over, &model));
  }
  integrate(model, PETSC_TRUE, told.forward_integral);
  integrate(model, PETSC_FALSE, told.integral);
  model.after_step = [&model](Vec) {
    if (model.steps() == told.clock) MUST(TSSetTime(model.ts(), 0));
  };
  model.stiffness = told.stiffness;
  model.start(told.start);
  MUST(TSSetTimeStep(ts, told.size * 1e-3));
  for (int i = 0; i < told.solves; ++i) {
    if (i > 0) {
      MUST(VecScale(model.solution(), 0.95));
      MUST(TSSetTimeStep(ts, 0.05));  // the last one was cut to the end
    }
    MUST(model.solve(10.0 * (i + 1) / told.solves));
  }
  std::vector<double> found = model.values();
  found.push_back(static_cast<double>(model.steps()));
  const PetscInt steps = model.steps();
  for (int i = 0; i < told.again && told.adjoint != 0; ++i) {
    if (i > 0) model.go_to(steps);
    model.turn();
    for (int piece = 1; piece < told.pieces; ++piece) MUST(model.back(steps / told.pieces));
    MUST(model.back());
    append(found, model.values());
    ++told.sweeps;
  }
  if (told.forward_integral != 0 || told.integral != 0) {
    Vec value = nullptr;
    PetscScalar sum = 0;
    MUST(TSGetCostIntegral(ts, &value));
    MUST(VecSum(value, &sum));
    found.push_back(PetscRealPart(sum));
  }
  std::ofstream file("found." + std::to_string(rank), std::ios::binary);
  file.write(reinterpret_cast<const char*>(found.data()),
             static_cast<std::streamsize>(found.size() * sizeof(double)));
  MUST(MatDestroy(&of_rate));
}

}  // namespace

int main(int argc, char** argv) {
  MUST(PetscInitializeNoArguments());
  MUST(AnadromePetscRegister());
  const std::map<std::string, int*> numbers = {{"solves", &told.solves},
                                               {"adjoint", &told.adjoint},
                                               {"forward", &told.forward},
                                               {"reverse", &told.reverse},
                                               {"start", &told.start},
                                               {"rank", &told.rank},
                                               {"pieces", &told.pieces},
                                               {"size", &told.size},
                                               {"in", &told.in},
                                               {"again", &told.again},
                                               {"clock", &told.clock},
                                               {"integral", &told.integral},
                                               {"forward_integral", &told.forward_integral},
                                               {"stiffness", &told.stiffness}};
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "events" || word == "damped") {
      (word == "events" ? told.events : told.damped) = true;
      continue;
    }
    const auto number = numbers.find(word);
    MUST(number == numbers.end() ? PETSC_ERR_ARG_UNKNOWN_TYPE : 0);
    *number->second = std::atoi(argv[++i]);
  }
  run(argv[1]);
  return PetscFinalize();
}
