#include "heat_grid.h"

#include <stdlib.h>
#include <string.h>

void heat_block(int64_t cells, int blocks, int index, int64_t* first, size_t* count) {
  const int64_t each = cells / blocks;
  const int64_t extra = cells % blocks;
  *first = index * each + (index < extra ? index : extra);
  *count = (size_t)(each + (index < extra ? 1 : 0));
}

size_t heat_grid_cells(const heat_grid* grid) { return grid->nx * grid->ny; }

void heat_grid_create(heat_grid* grid, MPI_Comm comm, int64_t cells_x, int64_t cells_y) {
  int blocks[2] = {0, 0};
  const int periodic[2] = {0, 0};
  int position[2];
  memset(grid, 0, sizeof *grid);
  grid->cells_x = cells_x;
  grid->cells_y = cells_y;
  MPI_Comm_size(comm, &grid->ranks);
  // The first (larger) factor cuts the y axis, so that rows stay long.
  MPI_Dims_create(grid->ranks, 2, blocks);
  grid->blocks_y = blocks[0];
  grid->blocks_x = blocks[1];
  MPI_Cart_create(comm, 2, blocks, periodic, 0, &grid->comm);
  MPI_Comm_rank(grid->comm, &grid->rank);
  MPI_Cart_coords(grid->comm, grid->rank, 2, position);
  heat_block(cells_y, blocks[0], position[0], &grid->first_y, &grid->ny);
  heat_block(cells_x, blocks[1], position[1], &grid->first_x, &grid->nx);
  MPI_Cart_shift(grid->comm, 0, 1, &grid->south, &grid->north);
  MPI_Cart_shift(grid->comm, 1, 1, &grid->west, &grid->east);
  if (grid->nx == 0 || grid->ny == 0) {
    grid->nx = grid->ny = 0;
    grid->west = grid->east = grid->south = grid->north = MPI_PROC_NULL;
    return;
  }
  // A neighbour beyond the last cell owns none: this block ends at the wall.
  if (grid->first_x + (int64_t)grid->nx == cells_x) grid->east = MPI_PROC_NULL;
  if (grid->first_y + (int64_t)grid->ny == cells_y) grid->north = MPI_PROC_NULL;
}

void heat_grid_free(heat_grid* grid) { MPI_Comm_free(&grid->comm); }

int heat_halo_create(heat_halo* halo, const heat_grid* grid) {
  const size_t nx = grid->nx, ny = grid->ny;
  memset(halo, 0, sizeof *halo);
  if (nx == 0) return 0;
  halo->storage = malloc((2 * nx + 4 * ny) * sizeof(double));
  if (halo->storage == NULL) return -1;
  halo->south = halo->storage;
  halo->north = halo->south + nx;
  halo->west = halo->north + nx;
  halo->east = halo->west + ny;
  halo->send_west = halo->east + ny;
  halo->send_east = halo->send_west + ny;
  return 0;
}

void heat_halo_free(heat_halo* halo) {
  free(halo->storage);
  memset(halo, 0, sizeof *halo);
}

void heat_exchange(const heat_grid* grid, const double* field, double wall_sign, heat_halo* halo) {
  enum { TO_WEST, TO_EAST, TO_SOUTH, TO_NORTH };
  const size_t nx = grid->nx, ny = grid->ny;
  if (nx == 0) return;
  const int row = (int)nx, column = (int)ny;
  const double *first_row = field, *last_row = field + (ny - 1) * nx;
  MPI_Request requests[8];
  MPI_Irecv(halo->east, column, MPI_DOUBLE, grid->east, TO_WEST, grid->comm, &requests[0]);
  MPI_Irecv(halo->west, column, MPI_DOUBLE, grid->west, TO_EAST, grid->comm, &requests[1]);
  MPI_Irecv(halo->north, row, MPI_DOUBLE, grid->north, TO_SOUTH, grid->comm, &requests[2]);
  MPI_Irecv(halo->south, row, MPI_DOUBLE, grid->south, TO_NORTH, grid->comm, &requests[3]);
  for (size_t j = 0; j < ny; ++j) {
    halo->send_west[j] = field[j * nx];
    halo->send_east[j] = field[j * nx + nx - 1];
  }
  MPI_Isend(halo->send_west, column, MPI_DOUBLE, grid->west, TO_WEST, grid->comm, &requests[4]);
  MPI_Isend(halo->send_east, column, MPI_DOUBLE, grid->east, TO_EAST, grid->comm, &requests[5]);
  MPI_Isend(first_row, row, MPI_DOUBLE, grid->south, TO_SOUTH, grid->comm, &requests[6]);
  MPI_Isend(last_row, row, MPI_DOUBLE, grid->north, TO_NORTH, grid->comm, &requests[7]);
  if (grid->south == MPI_PROC_NULL)
    for (size_t i = 0; i < nx; ++i) halo->south[i] = wall_sign * first_row[i];
  if (grid->north == MPI_PROC_NULL)
    for (size_t i = 0; i < nx; ++i) halo->north[i] = wall_sign * last_row[i];
  if (grid->west == MPI_PROC_NULL)
    for (size_t j = 0; j < ny; ++j) halo->west[j] = wall_sign * halo->send_west[j];
  if (grid->east == MPI_PROC_NULL)
    for (size_t j = 0; j < ny; ++j) halo->east[j] = wall_sign * halo->send_east[j];
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}
