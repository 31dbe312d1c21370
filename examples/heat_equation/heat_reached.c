#include "heat_reached.h"

#include <string.h>

/* A row in the buffer: these, and then the values. */
typedef struct extent {
  uint32_t first, last;
} extent;

static const double ambient = 0.0;

// Bits, not values: -0 is not what an untouched cell holds.
static int reached(const double* cell) {
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return memcmp(cell, &ambient, sizeof ambient) != 0;
}

static extent reached_cells(const double* row, size_t cells) {
  size_t first = 0, last = cells;
  while (first < last && !reached(row + first)) ++first;
  while (last > first && !reached(row + last - 1)) --last;
  if (first == last) first = last = 0;
  return (extent){(uint32_t)first, (uint32_t)last};
}

size_t heat_reached_most(const heat_grid* grid) {
  return grid->ny * (sizeof(extent) + grid->nx * sizeof(double));
}

size_t heat_reached_bytes(void* context) {
  const heat_model* model = context;
  const heat_grid* grid = &model->grid;
  size_t bytes = grid->ny * sizeof(extent);
  for (size_t j = 0; j < grid->ny; ++j) {
    const extent cells = reached_cells(model->u + j * grid->nx, grid->nx);
    bytes += (cells.last - cells.first) * sizeof(double);
  }
  return bytes;
}

int heat_reached_pack(void* context, void* buffer, size_t bytes) {
  const heat_model* model = context;
  const heat_grid* grid = &model->grid;
  char *to = buffer, *end = to + bytes;
  for (size_t j = 0; j < grid->ny; ++j) {
    const double* row = model->u + j * grid->nx;
    const extent cells = reached_cells(row, grid->nx);
    const size_t size = (cells.last - cells.first) * sizeof(double);
    if ((size_t)(end - to) < sizeof cells + size) return 1;
    memcpy(to, &cells, sizeof cells);
    memcpy(to + sizeof cells, row + cells.first, size);
    to += sizeof cells + size;
  }
  return to == end ? 0 : 1;
}

int heat_reached_unpack(void* context, const void* buffer, size_t bytes) {
  heat_model* model = context;
  const heat_grid* grid = &model->grid;
  const char *from = buffer, *end = from + bytes;
  memset(model->u, 0, heat_grid_cells(grid) * sizeof(double));
  for (size_t j = 0; j < grid->ny; ++j) {
    extent cells;
    if ((size_t)(end - from) < sizeof cells) return 1;
    memcpy(&cells, from, sizeof cells);
    from += sizeof cells;
    if (cells.first > cells.last || cells.last > grid->nx) return 1;
    const size_t size = (cells.last - cells.first) * sizeof(double);
    if ((size_t)(end - from) < size) return 1;
    memcpy(model->u + j * grid->nx + cells.first, from, size);
    from += size;
  }
  return from == end ? 0 : 1;
}
