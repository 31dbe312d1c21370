/* The cells of the unit square, their blocks on the ranks and the exchange of block edges.
 * Knows nothing about the equation. */
#ifndef HEAT_GRID_H
#define HEAT_GRID_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A grid of cells_x by cells_y cells; this rank owns the block of nx by ny cells whose lower left
 * cell has the global indices (first_x, first_y). Fields are row-major, x fastest, without a halo.
 */
typedef struct heat_grid {
  MPI_Comm comm; /**< Cartesian, owned; same ranks as the caller's communicator */
  int rank;
  int ranks;
  int64_t cells_x, cells_y;
  int blocks_x, blocks_y;       /**< block (bx, by) is on rank by * blocks_x + bx */
  int64_t first_x, first_y;     /**< of this rank's block */
  size_t nx, ny;                /**< both 0 on a rank without cells */
  int west, east, south, north; /**< neighbours; MPI_PROC_NULL: a wall of the square */
} heat_grid;

/** The cells around a block. Filled by heat_exchange. */
typedef struct heat_halo {
  double *south, *north; /**< nx values each */
  double *west, *east;   /**< ny values each */
  double *send_west, *send_east;
  double* storage;
} heat_halo;

/** Split the grid into blocks. Collective. */
void heat_grid_create(heat_grid* grid, MPI_Comm comm, int64_t cells_x, int64_t cells_y);
/** Free the communicator. Collective. */
void heat_grid_free(heat_grid* grid);

/** The number of cells of this rank. */
size_t heat_grid_cells(const heat_grid* grid);

/** The first cell and the number of cells of block `index` of `blocks` along a line of `cells`.
 * Blocks without cells, if any, are the last ones, so that a neighbour is always the adjacent rank.
 */
void heat_block(int64_t cells, int blocks, int index, int64_t* first, size_t* count);

/** Allocate a halo. Local. Returns 0, or -1 without memory. */
int heat_halo_create(heat_halo* halo, const heat_grid* grid);
void heat_halo_free(heat_halo* halo);

/** Fetch the cells around this block of `field`. At a wall the halo gets wall_sign times the cell
 * inside: -1 makes the field vanish on the wall, +1 continues it evenly. Collective. */
void heat_exchange(const heat_grid* grid, const double* field, double wall_sign, heat_halo* halo);

#ifdef __cplusplus
}
#endif

#endif
