// SPDX-License-Identifier: BSD-2-Clause
/** @file graph.h
 * What to keep and what to recompute within one step whose adjoint needs more than fits: the graph
 * of its stages, operators or fields, planned once, carried out by the caller. Conventions as in
 * anadrome.h; local, and no MPI needed. */
#ifndef ANADROME_GRAPH_H
#define ANADROME_GRAPH_H

#include <stdint.h>

#include <anadrome/export.h>
#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A step's graph. A node makes a value from those of the nodes that it reads; its adjoint needs
 * these values and its own, and adds to the adjoint variables of what it reads. */
typedef struct anadrome_graph anadrome_graph;

/** What the caller does with a node. */
typedef enum anadrome_graph_kind ANADROME_AS_INT {
  ANADROME_GRAPH_FORWARD = 0,   /**< make its value; allocate that */
  ANADROME_GRAPH_DROP = 1,      /**< free its value */
  ANADROME_GRAPH_RECOMPUTE = 2, /**< as FORWARD, once more */
  ANADROME_GRAPH_BACKWARD = 3   /**< its adjoint; then free its adjoint variable */
} anadrome_graph_kind;

/** One item of a plan. */
typedef struct anadrome_graph_action {
  anadrome_graph_kind kind; /**< what to do */
  int32_t node;             /**< with which node */
} anadrome_graph_action;

/** Which sets of nodes a plan may be made of. */
typedef enum anadrome_graph_family ANADROME_AS_INT {
  ANADROME_GRAPH_ALL = 0,       /**< all that may have been run at a time, up to 8192 of them */
  ANADROME_GRAPH_ANCESTORS = 1, /**< a node with all that is before it: for graphs of a thousand */
  ANADROME_GRAPH_IN_ORDER = 2   /**< the first ones: BACKWARD comes in one order whatever the budget
                                   is, so that sums of adjoints are the same bit by bit */
} anadrome_graph_family;

/** What a plan takes. */
typedef struct anadrome_graph_cost {
  int64_t peak_bytes;   /**< the most at a time, values and adjoint variables */
  double seconds_again; /**< of what is recomputed */
  int64_t actions;      /**< how many there are */
} anadrome_graph_cost;

/** Make an empty graph. Errors: ERR_ARGUMENT, ERR_MEMORY. */
ANADROME_API anadrome_status anadrome_graph_create(anadrome_graph** graph);

/** Add a node: `seconds` to make its value, `bytes` of that value, and as many of its adjoint
 * variable. `*node` is its number: 0, 1, .. in the order of the calls. A plan made before is gone.
 * Errors: ERR_ARGUMENT (negative, not finite). */
ANADROME_API anadrome_status anadrome_graph_add_node(anadrome_graph* graph, double seconds,
                                                     int64_t bytes, int32_t* node);

/** Say that `to` reads the value of `from`. A plan made before is gone. Errors: ERR_ARGUMENT (no
 * such node). */
ANADROME_API anadrome_status anadrome_graph_add_edge(anadrome_graph* graph, int32_t from,
                                                     int32_t to);

/** Plan the step and its adjoint with the least recomputation found that holds at most `bytes` at a
 * time: values from FORWARD or RECOMPUTE to DROP; adjoint variables of nodes that nobody reads from
 * the first BACKWARD, of others from the first BACKWARD of one that reads them, until their own is
 * done. The last set of nodes is not recomputed. Errors: ERR_MEMORY (no plan fits), ERR_ARGUMENT (a
 * cycle, no node, too many sets). A failing call leaves no plan. Source: Kusumoto et al. 2019,
 * docs/theory-memory.md. */
ANADROME_API anadrome_status anadrome_graph_plan(anadrome_graph* graph, int64_t bytes,
                                                 anadrome_graph_family family,
                                                 anadrome_graph_cost* cost);

/** Action `index` of the plan, 0 <= index < cost.actions. Errors: ERR_ORDER (there is no plan),
 * ERR_ARGUMENT. */
ANADROME_API anadrome_status anadrome_graph_action_at(const anadrome_graph* graph, int64_t index,
                                                      anadrome_graph_action* action);

/** Free the graph and set *graph to NULL. A NULL *graph is freed already: OK. */
ANADROME_API anadrome_status anadrome_graph_free(anadrome_graph** graph);

#ifdef __cplusplus
}
#endif

#endif
