// SPDX-License-Identifier: BSD-2-Clause
// dump_states GRID STEPS DUMP [KEY=VALUE]...
//
// Runs the heat model through the C interface and writes every state its caller sees, x_0 .. x_n at
// ADJOINT and TURN, into the plain file DUMP: per state, the field "u" of all ranks one after
// another. Five small fields of other types, whose values follow from step, rank and index, are
// part of the state; they are checked here.
#include <anadrome/anadrome.h>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heat.h"

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "dump_states: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void require(anadrome_status status, const char* what) {
  if (status != ANADROME_OK) {
    give_up(std::string(what) + ": " + anadrome_status_name(status) + ": " + anadrome_last_error());
  }
}

// Element i of rank r in x_k is 10000 k + 100 r + i, in every type; bytes are that modulo 251, and
// imaginary parts its negative. Counts differ between ranks and are partly 0.
struct SmallFields {
  explicit SmallFields(int rank_of_these)
      : rank(rank_of_these),
        single(static_cast<std::size_t>(3 * rank + 1)),
        pairs(static_cast<std::size_t>((rank + 1) % 3)),
        small_pairs(static_cast<std::size_t>(rank == 0 ? 5 : 2)),
        integers(static_cast<std::size_t>(rank == 1 ? 0 : 3)),
        bytes(static_cast<std::size_t>(5 + rank)) {
    set(0);
  }

  std::int64_t number(std::int64_t k, std::size_t i) const {
    return 10000 * k + 100 * rank + static_cast<std::int64_t>(i);
  }

  void set(std::int64_t k) {
    const auto fill = [&](auto& values, const auto& value_of) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(number(k, i));
    };
    fill(single, [](std::int64_t v) { return static_cast<float>(v); });
    fill(pairs, [](std::int64_t v) {
      return std::complex<double>(static_cast<double>(v), -static_cast<double>(v));
    });
    fill(small_pairs, [](std::int64_t v) {
      return std::complex<float>(static_cast<float>(v), -static_cast<float>(v));
    });
    fill(integers, [](std::int64_t v) { return static_cast<std::int32_t>(v); });
    fill(bytes, [](std::int64_t v) { return static_cast<std::uint8_t>(v % 251); });
  }

  bool are_of_step(std::int64_t k) const {
    SmallFields expected(rank);
    expected.set(k);
    return single == expected.single && pairs == expected.pairs &&
           small_pairs == expected.small_pairs && integers == expected.integers &&
           bytes == expected.bytes;
  }

  void add_to(anadrome_run* run) {
    const auto add = [run](const char* name, anadrome_type type, auto& values) {
      require(
          anadrome_add_field(run, name, ANADROME_ROLE_STATE, type, values.data(), values.size()),
          name);
    };
    add("single", ANADROME_FLOAT32, single);
    add("a.pair", ANADROME_COMPLEX128, pairs);
    add("small_pair", ANADROME_COMPLEX64, small_pairs);
    add("Integer-32", ANADROME_INT32, integers);
    add("bytes", ANADROME_BYTE, bytes);
  }

  int rank;
  std::vector<float> single;
  std::vector<std::complex<double>> pairs;
  std::vector<std::complex<float>> small_pairs;
  std::vector<std::int32_t> integers;
  std::vector<std::uint8_t> bytes;
};

class Dump {
 public:
  Dump(const char* path, const heat_model* model)
      : model_(model), bytes_(static_cast<std::int64_t>(heat_grid_cells(&model->grid)) * 8) {
    MPI_Exscan(&bytes_, &before_, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (model->grid.rank == 0) before_ = 0;
    MPI_Allreduce(&bytes_, &total_, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) give_up(std::string("cannot create ") + path);
  }
  ~Dump() { ::close(descriptor_); }
  Dump(const Dump&) = delete;
  Dump& operator=(const Dump&) = delete;

  void write(std::int64_t k) const {
    if (bytes_ > 0 && ::pwrite(descriptor_, model_->u, static_cast<std::size_t>(bytes_),
                               k * total_ + before_) != bytes_) {
      give_up("a write was cut short");
    }
  }

 private:
  const heat_model* model_;
  std::int64_t bytes_, before_ = 0, total_ = 0;
  int descriptor_;
};

void sweep(anadrome_run* run, heat_model* model, SmallFields& small, std::int64_t steps,
           const Dump& dump) {
  const auto see = [&](std::int64_t k) {
    if (!small.are_of_step(k)) {
      give_up("a small field is wrong at step " + std::to_string(k));
    }
    dump.write(k);
  };
  require(anadrome_begin(run, steps), "begin");
  anadrome_action action;
  for (;;) {
    require(anadrome_next(run, &action), "next");
    switch (action.kind) {
      case ANADROME_ADVANCE:
        for (std::int64_t k = action.first; k < action.last; ++k) {
          heat_step(model, k, model->u, model->u, nullptr);
          small.set(k + 1);
        }
        break;
      case ANADROME_TURN:
      case ANADROME_ADJOINT:
        see(action.first);
        break;
      default:
        return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc < 4) give_up("usage: dump_states GRID STEPS DUMP [KEY=VALUE]...");
  long long cells_x = 0, cells_y = 0;
  if (std::sscanf(argv[1], "%lldx%lld", &cells_x, &cells_y) != 2) give_up("a grid is NXxNY");
  heat_model* model = heat_model_create(MPI_COMM_WORLD, cells_x, cells_y, 1, HEAT_EULER);
  if (model == nullptr) give_up("no memory for the grid");
  SmallFields small(model->grid.rank);
  anadrome_run* run = nullptr;
  require(anadrome_open(MPI_COMM_WORLD, &run), "open");
  for (int a = 4; a < argc; ++a) {
    const std::string_view word = argv[a];
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) give_up("an option is KEY=VALUE");
    const std::string key(word.substr(0, equals)), value(word.substr(equals + 1));
    require(anadrome_set(run, key.c_str(), value.c_str()), argv[a]);
  }
  require(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, model->u,
                             heat_grid_cells(&model->grid)),
          "u");
  small.add_to(run);
  {
    const Dump dump(argv[3], model);
    sweep(run, model, small, std::atoll(argv[2]), dump);
  }
  require(anadrome_close(&run), "close");
  heat_model_free(model);
  MPI_Finalize();
  return 0;
}
