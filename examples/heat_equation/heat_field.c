#include "heat_field.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

// Most of what rank 0 holds of a field at a time; a row that is longer is taken whole.
static const size_t band_bytes = 131072;

// Fixed-point digits of a summand in [0, 1): integer sums are exact, hence the same in any order
// and on any number of ranks. Two words of 30 bits leave room for 2^33 summands.
static const double digit = 1073741824.0;

double heat_sum_of_squares(const heat_grid* grid, const double* field) {
  const size_t cells = heat_grid_cells(grid);
  double largest = 0.0;
  for (size_t i = 0; i < cells; ++i) {
    const double size = fabs(field[i]);
    if (!(size <= DBL_MAX)) largest = HUGE_VAL;
    if (size > largest) largest = size;
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
  if (!(largest <= DBL_MAX)) return nan("");
  if (largest == 0.0) return 0.0;
  int exponent;
  frexp(largest, &exponent);
  if (exponent < -1000) exponent = -1000;
  const double scale = ldexp(1.0, -exponent);
  int64_t sums[2] = {0, 0};
  for (size_t i = 0; i < cells; ++i) {
    const double scaled = field[i] * scale;
    const double square = scaled * scaled * digit;
    const int64_t high = (int64_t)square;
    sums[0] += high;
    sums[1] += (int64_t)((square - (double)high) * digit);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, grid->comm);
  const double sum = (double)sums[0] / digit + (double)sums[1] / (digit * digit);
  return ldexp(sum, 2 * exponent);
}

double heat_dot(const heat_grid* grid, const double* a, const double* b) {
  const size_t cells = heat_grid_cells(grid);
  double sum = 0.0, excess = 0.0;  // compensated: the rounding of millions of sums would show
  for (size_t i = 0; i < cells; ++i) {
    const double term = a[i] * b[i] - excess;
    const double next = sum + term;
    excess = (next - sum) - term;
    sum = next;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid->comm);
  return sum;
}

// Rank 0: put rows `from` .. `from + rows - 1` of block row `by` together in `band`.
static void receive_band(const heat_grid* grid, const double* field, int by, size_t from,
                         size_t rows, double* band) {
  const size_t width = (size_t)grid->cells_x;
  for (int bx = 0; bx < grid->blocks_x; ++bx) {
    int64_t column;
    size_t nx;
    heat_block(grid->cells_x, grid->blocks_x, bx, &column, &nx);
    if (nx == 0) continue;
    if (bx == 0 && by == 0) {
      for (size_t j = 0; j < rows; ++j)
        memcpy(band + j * width, field + (from + j) * nx, nx * sizeof(double));
      continue;
    }
    MPI_Datatype block;
    MPI_Type_vector((int)rows, (int)nx, (int)width, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    MPI_Recv(band + column, 1, block, by * grid->blocks_x + bx, 0, grid->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&block);
  }
}

static void hash_field(const heat_grid* grid, const double* field, size_t band_rows, double* band,
                       XXH3_state_t* state) {
  const size_t width = (size_t)grid->cells_x;
  for (int by = 0; by < grid->blocks_y; ++by) {
    int64_t first;
    size_t ny;
    heat_block(grid->cells_y, grid->blocks_y, by, &first, &ny);
    const int mine = grid->rank / grid->blocks_x == by && grid->nx > 0;
    for (size_t j = 0; j < ny; j += band_rows) {
      const size_t rows = ny - j < band_rows ? ny - j : band_rows;
      if (grid->rank == 0) {
        receive_band(grid, field, by, j, rows, band);
        XXH3_64bits_update(state, band, rows * width * sizeof(double));
      } else if (mine) {
        // Synchronous: eager sends would pile up on rank 0.
        MPI_Ssend(field + j * grid->nx, (int)(rows * grid->nx), MPI_DOUBLE, 0, 0, grid->comm);
      }
    }
  }
}

int heat_hash(const heat_grid* grid, const double* first, const double* second, uint64_t* hash) {
  const size_t width = (size_t)grid->cells_x;
  const size_t fitting = band_bytes / (width * sizeof(double));
  const size_t band_rows = fitting > 0 ? fitting : 1;
  double* band = NULL;
  XXH3_state_t* state = NULL;
  int ready = 1;
  if (grid->rank == 0) {
    band = malloc(band_rows * width * sizeof(double));
    state = XXH3_createState();
    ready = band != NULL && state != NULL;
    if (ready) XXH3_64bits_reset(state);
  }
  MPI_Bcast(&ready, 1, MPI_INT, 0, grid->comm);
  if (ready) {
    hash_field(grid, first, band_rows, band, state);
    hash_field(grid, second, band_rows, band, state);
    if (grid->rank == 0) *hash = XXH3_64bits_digest(state);
    MPI_Bcast(hash, 1, MPI_UINT64_T, 0, grid->comm);
  }
  free(band);
  XXH3_freeState(state);
  return ready ? 0 : -1;
}
