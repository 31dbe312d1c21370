// SPDX-License-Identifier: BSD-2-Clause
#include "heat.h"

#include <float.h>
#include <math.h>

#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

// Strips differ by one row at most, and the longer ones come first.
static int64_t first_row(const heat_grid* grid, int rank) {
  const int64_t each = grid->cells_y / grid->ranks, longer = grid->cells_y % grid->ranks;
  return rank * each + (rank < longer ? rank : longer);
}

heat_grid heat_grid_of(MPI_Comm comm, int64_t cells_x, int64_t cells_y) {
  heat_grid grid = {.comm = comm, .cells_x = cells_x, .cells_y = cells_y, .nx = (size_t)cells_x};
  MPI_Comm_rank(comm, &grid.rank);
  MPI_Comm_size(comm, &grid.ranks);
  grid.first_y = first_row(&grid, grid.rank);
  const int64_t end = first_row(&grid, grid.rank + 1);
  grid.ny = (size_t)(end - grid.first_y);
  grid.south = grid.first_y > 0 ? grid.rank - 1 : MPI_PROC_NULL;
  grid.north = end < cells_y ? grid.rank + 1 : MPI_PROC_NULL;
  return grid;
}

size_t heat_grid_cells(const heat_grid* grid) { return grid->nx * grid->ny; }

void heat_fill(const heat_grid* grid, double function(double x, double y), double* field) {
  for (size_t j = 0; j < grid->ny; ++j) {
    const double y = ((double)(grid->first_y + (int64_t)j) + 0.5) / (double)grid->cells_y;
    for (size_t i = 0; i < grid->nx; ++i)
      field[j * grid->nx + i] = function(((double)i + 0.5) / (double)grid->cells_x, y);
  }
}

void heat_exchange(const heat_grid* grid, const double* field, double wall_sign, double* halo) {
  enum { NORTHWARD, SOUTHWARD };
  const size_t nx = grid->nx;
  const int row = (int)nx;
  if (grid->ny == 0) return;
  const double *first = field, *last = field + (grid->ny - 1) * nx;
  double *south = halo, *north = halo + nx;
  MPI_Request requests[4];
  MPI_Irecv(south, row, MPI_DOUBLE, grid->south, NORTHWARD, grid->comm, &requests[0]);
  MPI_Irecv(north, row, MPI_DOUBLE, grid->north, SOUTHWARD, grid->comm, &requests[1]);
  MPI_Isend(first, row, MPI_DOUBLE, grid->south, SOUTHWARD, grid->comm, &requests[2]);
  MPI_Isend(last, row, MPI_DOUBLE, grid->north, NORTHWARD, grid->comm, &requests[3]);
  for (size_t i = 0; grid->south == MPI_PROC_NULL && i < nx; ++i) south[i] = wall_sign * first[i];
  for (size_t i = 0; grid->north == MPI_PROC_NULL && i < nx; ++i) north[i] = wall_sign * last[i];
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// In fixed point, since sums of integers are exact in any order: two words of 30 bits for a summand
// in [0, 1) leave room for 2^33 summands.
double heat_sum_of_squares(const heat_grid* grid, const double* field) {
  const double digit = 1073741824.0;
  const size_t cells = heat_grid_cells(grid);
  double largest = 0.0;
  for (size_t i = 0; i < cells; ++i) {
    const double size = isfinite(field[i]) ? fabs(field[i]) : HUGE_VAL;
    if (size > largest) largest = size;
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
  if (!isfinite(largest)) return nan("");
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
  return ldexp((double)sums[0] / digit + (double)sums[1] / (digit * digit), 2 * exponent);
}

uint64_t heat_hash(const heat_grid* grid, const double* first, const double* second) {
  enum { MOST = 4096 };  // cells of another rank that rank 0 holds at a time
  const double* const fields[] = {first, second};
  double piece[MOST];
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (int f = 0; f < 2; ++f) {
    for (int owner = 0; owner < grid->ranks; ++owner) {
      const int64_t rows = first_row(grid, owner + 1) - first_row(grid, owner);
      const size_t cells = (size_t)rows * grid->nx;
      for (size_t at = 0; at < cells; at += MOST) {
        const size_t count = cells - at < MOST ? cells - at : MOST;
        const double* values = owner == grid->rank ? fields[f] + at : piece;
        if (grid->rank == 0 && owner != 0)
          MPI_Recv(piece, (int)count, MPI_DOUBLE, owner, 0, grid->comm, MPI_STATUS_IGNORE);
        if (grid->rank == owner && owner != 0)  // synchronous: eager sends would pile up on rank 0
          MPI_Ssend(values, (int)count, MPI_DOUBLE, 0, 0, grid->comm);
        if (grid->rank == 0) XXH3_64bits_update(&state, values, count * sizeof(double));
      }
    }
  }
  uint64_t hash = XXH3_64bits_digest(&state);
  MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, grid->comm);
  return hash;
}
