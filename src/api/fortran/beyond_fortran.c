// SPDX-License-Identifier: BSD-2-Clause
/* What Fortran cannot say through iso_c_binding, or gfortran does not say rightly. */
#include <ISO_Fortran_binding.h>
#include <anadrome/store.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* MPI_Comm_f2c may be a macro, and a C communicator may be a pointer or an integer. Before MPI_Init
 * it ends the program. */
static MPI_Comm communicator(MPI_Fint comm) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

ANADROME_API anadrome_status anadrome_fortran_open(MPI_Fint comm, anadrome_run** run) {
  return anadrome_open(communicator(comm), run);
}

ANADROME_API anadrome_status anadrome_fortran_store_open(MPI_Fint comm, const char* options,
                                                         anadrome_store** store) {
  return anadrome_store_open(communicator(comm), options, store);
}

/* Every handle is the first member of its type. */
ANADROME_API void* anadrome_fortran_handle(void* const* object) { return *object; }

/* An array as a part without a name; its type is -2 if its elements lie apart. gfortran's
 * is_contiguous() does not see that those of a component, particles%x, or of a real part, z%re, do;
 * its CFI_is_contiguous() prints something about scalars under -fcheck=bounds. */
ANADROME_API anadrome_part anadrome_fortran_part(const CFI_cdesc_t* values) {
  static const CFI_type_t floating[] = {[ANADROME_FLOAT32] = CFI_type_float,
                                        [ANADROME_FLOAT64] = CFI_type_double,
                                        [ANADROME_COMPLEX64] = CFI_type_float_Complex,
                                        [ANADROME_COMPLEX128] = CFI_type_double_Complex};
  const anadrome_type whole = values->elem_len == 4 ? ANADROME_INT32 : ANADROME_INT64;
  anadrome_part part = {NULL, whole, 1, values->base_addr};
  int gaps = 0;
  for (int t = ANADROME_FLOAT32; t <= ANADROME_COMPLEX128; ++t)
    if (values->type == floating[t]) part.type = (anadrome_type)t;
  for (int d = 0; d < values->rank; ++d) {
    const CFI_dim_t* dim = &values->dim[d];
    gaps |= dim->extent != 1 && dim->sm != (CFI_index_t)(part.count * values->elem_len);
    part.count *= (size_t)dim->extent;
  }
  if (gaps && part.count > 1) part.type = (anadrome_type)-2;
  return part;
}

/* Exchanged fields: a pointer to more elements, or larger ones, would reach into other states. Runs
 * of several threads share the list. */
struct known {
  const anadrome_run* run;
  int field;
  size_t count, bytes;
};
static struct known* known;
static size_t known_fields;
static pthread_mutex_t known_is_mine = PTHREAD_MUTEX_INITIALIZER;

static struct known* find(const anadrome_run* run, int field) {
  size_t i = 0;
  while (i < known_fields && (known[i].run != run || known[i].field != field)) ++i;
  return known + i;
}

ANADROME_API anadrome_status anadrome_fortran_add_exchanged(anadrome_run* run, const char* name,
                                                            int role, int type, size_t count,
                                                            int* field) {
  static const size_t bytes[] = {4, 8, 8, 16, 4, 8, 1};
  pthread_mutex_lock(&known_is_mine);
  anadrome_status status = ANADROME_ERR_MEMORY;
  struct known* larger = realloc(known, (known_fields + 1) * sizeof *known);
  if (larger) {
    known = larger;
    status =
        anadrome_add_exchanged(run, name, (anadrome_role)role, (anadrome_type)type, count, field);
  }
  if (status == ANADROME_OK) {
    struct known* place = find(run, *field); /* that of a run that was closed, or a new one */
    if (place == known + known_fields) ++known_fields;
    *place = (struct known){run, *field, count, bytes[type]};
  }
  pthread_mutex_unlock(&known_is_mine);
  return status;
}

static void point(CFI_cdesc_t* values, const CFI_cdesc_t* shape, const anadrome_run* run, int field,
                  void* address) {
  static double nothing[2]; /* what a pointer without elements points to */
  struct known most = {run, field, PTRDIFF_MAX, values->elem_len};
  pthread_mutex_lock(&known_is_mine);
  const struct known* place = find(run, field);
  if (place != known + known_fields) most = *place;
  pthread_mutex_unlock(&known_is_mine);
  values->base_addr = NULL;
  if (!address || shape->dim[0].extent != values->rank || values->elem_len != most.bytes) return;
  size_t count = 1; /* no product is beyond `most` on the way */
  int empty = 0;
  for (int d = 0; d < values->rank; ++d) {
    const int extent = *(const int*)((const char*)shape->base_addr + d * shape->dim[0].sm);
    if (extent < 0) return;
    values->dim[d] = (CFI_dim_t){1, extent, (CFI_index_t)(count * values->elem_len)};
    empty |= extent == 0;
    if (extent > 1 && count > most.count / (size_t)extent)
      count = SIZE_MAX;
    else if (extent > 1)
      count *= (size_t)extent;
  }
  if (!empty && count > most.count) return;
  values->base_addr = empty ? nothing : address;
}

ANADROME_API void anadrome_fortran_now(anadrome_run* const* run, const int* field,
                                       CFI_cdesc_t* values, const CFI_cdesc_t* shape) {
  point(values, shape, *run, *field, (void*)anadrome_now(*run, *field));
}

ANADROME_API void anadrome_fortran_then(anadrome_run* const* run, const int* field,
                                        CFI_cdesc_t* values, const CFI_cdesc_t* shape) {
  point(values, shape, *run, *field, anadrome_then(*run, *field));
}
