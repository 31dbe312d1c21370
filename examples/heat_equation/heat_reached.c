// SPDX-License-Identifier: BSD-2-Clause
// For each row where the cells that heat has reached begin and end, and then their values. All
// others are +0, so nothing is lost, not a bit.
#include <string.h>

#include "heat.h"

typedef struct extent {
  uint32_t first, last;
} extent;

// Bits, not values: -0 is not what an untouched cell holds.
static int reached(const double* cell) {
  static const double ambient = 0.0;
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return memcmp(cell, &ambient, sizeof ambient) != 0;
}

// Returns the bytes that the state takes; `to`: where they go, or NULL.
static size_t pack(const heat_model* model, char* to) {
  const size_t nx = model->grid.nx;
  size_t bytes = 0;
  for (size_t j = 0; j < model->grid.ny; ++j) {
    const double* row = model->u + j * nx;
    size_t first = 0, last = nx;
    while (first < last && !reached(row + first)) ++first;
    while (last > first && !reached(row + last - 1)) --last;
    const extent cells = {(uint32_t)first, (uint32_t)last};
    if (to != NULL) memcpy(to + bytes, &cells, sizeof cells);
    if (to != NULL) memcpy(to + bytes + sizeof cells, row + first, (last - first) * sizeof(double));
    bytes += sizeof cells + (last - first) * sizeof(double);
  }
  return bytes;
}

size_t heat_reached_most(const heat_grid* grid) {
  return grid->ny * (sizeof(extent) + grid->nx * sizeof(double));
}

size_t heat_reached_bytes(void* model) { return pack(model, NULL); }

int heat_reached_pack(void* model, void* buffer, size_t bytes) {
  return pack(model, buffer) == bytes ? 0 : 1;
}

int heat_reached_unpack(void* context, const void* buffer, size_t bytes) {
  const heat_model* model = context;
  const size_t nx = model->grid.nx;
  const char* from = buffer;
  memset(model->u, 0, heat_grid_cells(&model->grid) * sizeof(double));
  for (size_t j = 0; j < model->grid.ny; ++j) {
    extent cells;
    memcpy(&cells, from, sizeof cells);
    if (cells.first > cells.last || cells.last > nx) return 1;
    const size_t size = (cells.last - cells.first) * sizeof(double);
    memcpy(model->u + j * nx + cells.first, from + sizeof cells, size);
    from += sizeof cells + size;
  }
  return from == (const char*)buffer + bytes ? 0 : 1;
}
