// SPDX-License-Identifier: BSD-2-Clause
/* The public headers that know no MPI, wherever mpi.h is. */
#include <anadrome/field.h>
#include <anadrome/graph.h>
#include <anadrome/schedule.h>
#include <anadrome/sketch.h>
#include <anadrome/status.h>

#ifdef __cplusplus
#include <anadrome/error.hpp>
#include <anadrome/schedule.hpp>
#include <anadrome/sketch.hpp>
#endif

#ifdef MPI_VERSION
#error "MPI came along"
#endif

int header_without_mpi(void);
int header_without_mpi(void) { return (int)ANADROME_OK + (int)ANADROME_GRAPH_FORWARD; }
