// SPDX-License-Identifier: BSD-2-Clause
/* A step of two coupled fields, heat and a moving medium, by Runge-Kutta substeps, and its adjoint,
 * within a memory budget: the graph of the step says what there is, anadrome_graph_plan what to
 * keep and what to run again, and this program does it. The gradient is compared with the one of a
 * plan that keeps everything, bit by bit, and with differences; the bytes that were really
 * allocated at a time with the plan's. */
#include <anadrome/graph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kStages = 4,
  kSubsteps = 3,
  kEach = 2 + 2 * kStages,
  kNodes = kSubsteps * kEach + 2,
  kCells = 2000
};

/* Of substep s the nodes are kEach s + ..: 0 the heat and 1 the medium before it, 2 + 2 i and 3 + 2
 * i their slopes of stage i. The last two are the fields at the end. The medium has a vector per
 * cell. */
typedef struct Step {
  double h;
  double* value[kNodes];
  double* adjoint[kNodes];
  const double* start; /* of both fields */
  long bytes, peak;
} Step;

static int is_medium(int node) { return node % 2; }
static size_t length_of(int node) { return (size_t)(is_medium(node) ? 3 * kCells : kCells); }
static int is_field(int node) { return node % kEach < 2; }
static int is_start(int node) { return node < 2; }
static int is_end(int node) { return node >= kNodes - 2; }
static int stage_of(int slope) { return slope % kEach / 2 - 1; }
/* The nodes 0 and 1 of its substep; of a field, of the substep that led there. */
static int fields_of(int node) {
  return (is_field(node) ? node / kEach - 1 : node / kEach) * kEach;
}

static const double kPart[kStages] = {0, 0.5, 0.5, 1};
static const double kWeight[kStages] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

static double* allocate(Step* step, int node) {
  const size_t bytes = length_of(node) * sizeof(double);
  double* values = calloc(1, bytes);
  if (values == NULL) {
    fprintf(stderr, "coupled_step: no memory\n");
    exit(1);
  }
  step->bytes += (long)bytes;
  if (step->bytes > step->peak) step->peak = step->bytes;
  return values;
}

static void release(Step* step, double** values, int node) {
  free(*values);
  *values = NULL;
  step->bytes -= (long)(length_of(node) * sizeof(double));
}

/* A field where a slope is evaluated. */
static double at_slope(const Step* step, int slope, int medium, size_t k) {
  const int fields = fields_of(slope), stage = stage_of(slope);
  double x = step->value[fields + medium][k];
  if (stage > 0) x += step->h * kPart[stage] * step->value[fields + 2 * stage + medium][k];
  return x;
}

static void to_slope(Step* step, int slope, int medium, size_t k, double adjoint) {
  const int fields = fields_of(slope), stage = stage_of(slope);
  step->adjoint[fields + medium][k] += adjoint;
  if (stage > 0) step->adjoint[fields + 2 * stage + medium][k] += step->h * kPart[stage] * adjoint;
}

/* Heat spreads faster where the medium moves; the medium is pushed by the heat. */
static void forward(Step* step, int node) {
  const int medium = is_medium(node);
  double* out = step->value[node] = allocate(step, node);
  if (is_start(node)) {
    memcpy(out, step->start + medium * kCells, length_of(node) * sizeof(double));
    return;
  }
  for (size_t k = 0; k < length_of(node); ++k) {
    if (is_field(node)) {
      const int fields = fields_of(node);
      out[k] = step->value[fields + medium][k];
      for (int i = 0; i < kStages; ++i) {
        out[k] += step->h * kWeight[i] * step->value[fields + 2 + 2 * i + medium][k];
      }
    } else if (medium) {
      out[k] = -sin(at_slope(step, node, 1, k)) + 0.3 * at_slope(step, node, 0, k % kCells);
    } else {
      const double t = at_slope(step, node, 0, k), u = at_slope(step, node, 1, k);
      out[k] = (1 + u * u) * (at_slope(step, node, 0, (k + 1) % kCells) - t);
    }
  }
}

static void backward(Step* step, int node) {
  const int medium = is_medium(node);
  const double* in = step->adjoint[node];
  if (is_start(node)) return;
  for (size_t k = 0; k < length_of(node); ++k) {
    if (is_field(node)) {
      const int fields = fields_of(node);
      step->adjoint[fields + medium][k] += in[k];
      for (int i = 0; i < kStages; ++i) {
        step->adjoint[fields + 2 + 2 * i + medium][k] += step->h * kWeight[i] * in[k];
      }
    } else if (medium) {
      to_slope(step, node, 1, k, -cos(at_slope(step, node, 1, k)) * in[k]);
      to_slope(step, node, 0, k % kCells, 0.3 * in[k]);
    } else {
      const size_t next = (k + 1) % kCells;
      const double t = at_slope(step, node, 0, k), u = at_slope(step, node, 1, k);
      to_slope(step, node, 1, k, 2 * u * (at_slope(step, node, 0, next) - t) * in[k]);
      to_slope(step, node, 0, next, (1 + u * u) * in[k]);
      to_slope(step, node, 0, k, -(1 + u * u) * in[k]);
    }
  }
}

/* Whose values the node reads: at most 2 + kStages. */
static int reads(int node, int* from) {
  const int fields = fields_of(node);
  int count = 0;
  if (is_start(node)) return 0;
  if (is_field(node)) {
    from[count++] = fields + is_medium(node);
    for (int i = 0; i < kStages; ++i) from[count++] = fields + 2 + 2 * i + is_medium(node);
    return count;
  }
  for (int medium = 0; medium < 2; ++medium) {
    from[count++] = fields + medium;
    if (stage_of(node) > 0) from[count++] = fields + 2 * stage_of(node) + medium;
  }
  return count;
}

static void check(anadrome_status status) {
  if (status == ANADROME_OK) return;
  fprintf(stderr, "coupled_step: %s\n", anadrome_last_error());
  exit(1);
}

static anadrome_graph* graph_of_step(void) {
  anadrome_graph* graph = NULL;
  int32_t number;
  int from[2 + kStages];
  check(anadrome_graph_create(&graph));
  for (int node = 0; node < kNodes; ++node) {
    const double seconds = 1e-9 * (double)length_of(node) * (is_medium(node) ? 20 : 3);
    check(anadrome_graph_add_node(graph, seconds, (int64_t)(length_of(node) * sizeof(double)),
                                  &number));
    const int count = reads(node, from);
    for (int i = 0; i < count; ++i) check(anadrome_graph_add_edge(graph, from[i], number));
  }
  return graph;
}

/* The sum of squares of both fields after the step. */
static double objective_of(const Step* step) {
  double sum = 0;
  for (int node = kNodes - 2; node < kNodes; ++node) {
    for (size_t k = 0; k < length_of(node); ++k)
      sum += 0.5 * step->value[node][k] * step->value[node][k];
  }
  return sum;
}

/* Carries the plan out; returns the objective, and the bytes that were there at most. `gradient` of
 * both fields. */
static double run(const anadrome_graph* graph, int64_t actions, const double* start,
                  double* gradient, long* peak) {
  Step step = {.h = 0.01, .start = start};
  double objective = 0;
  int turned = 0, from[2 + kStages];
  for (int64_t i = 0; i < actions; ++i) {
    anadrome_graph_action action;
    check(anadrome_graph_action_at(graph, i, &action));
    const int node = action.node;
    switch (action.kind) {
      case ANADROME_GRAPH_FORWARD:
      case ANADROME_GRAPH_RECOMPUTE:
        forward(&step, node);
        if (node == kNodes - 1 && !turned && step.value[kNodes - 2] != NULL)
          objective = objective_of(&step);
        break;
      case ANADROME_GRAPH_DROP:
        release(&step, &step.value[node], node);
        break;
      case ANADROME_GRAPH_BACKWARD: {
        for (int end = kNodes - 2; end < kNodes && !turned; ++end)
          step.adjoint[end] = allocate(&step, end);
        turned = 1;
        if (is_end(node)) {
          memcpy(step.adjoint[node], step.value[node], length_of(node) * sizeof(double));
        }
        const int count = reads(node, from);
        for (int k = 0; k < count; ++k) {
          if (step.adjoint[from[k]] == NULL) step.adjoint[from[k]] = allocate(&step, from[k]);
        }
        backward(&step, node);
        if (is_start(node)) {
          memcpy(gradient + (node == 0 ? 0 : kCells), step.adjoint[node],
                 length_of(node) * sizeof(double));
        }
        release(&step, &step.adjoint[node], node);
        break;
      }
    }
  }
  *peak = step.peak;
  return objective;
}

int main(int argc, char** argv) {
  static double start[4 * kCells], gradient[4 * kCells], reference[4 * kCells], scratch[4 * kCells];
  const double percent = argc > 1 ? atof(argv[1]) : 75;
  anadrome_graph_cost all, cost;
  long peak;
  for (int k = 0; k < 4 * kCells; ++k) start[k] = sin(0.01 * k) + 0.2 * cos(0.37 * k);
  anadrome_graph* graph = graph_of_step();
  check(anadrome_graph_plan(graph, INT64_MAX / 4, ANADROME_GRAPH_IN_ORDER, &all));
  run(graph, all.actions, start, reference, &peak);
  if (peak != all.peak_bytes) {
    fprintf(stderr, "coupled_step: %ld bytes were there, %lld planned\n", peak,
            (long long)all.peak_bytes);
    return 1;
  }
  const int64_t budget = (int64_t)(percent / 100 * (double)all.peak_bytes);
  check(anadrome_graph_plan(graph, budget, ANADROME_GRAPH_IN_ORDER, &cost));
  run(graph, cost.actions, start, gradient, &peak);
  printf(
      "everything kept   %9lld bytes\nbudget            %9lld bytes\nplanned peak      %9lld "
      "bytes\n",
      (long long)all.peak_bytes, (long long)budget, (long long)cost.peak_bytes);
  printf("measured peak     %9ld bytes\nrun again         %9.3g seconds\n", peak,
         cost.seconds_again);
  const int same = memcmp(gradient, reference, sizeof gradient) == 0;

  /* Central differences along the gradient. */
  double norm = 0, difference = 0;
  for (int k = 0; k < 4 * kCells; ++k) norm += gradient[k] * gradient[k];
  for (int sign = -1; sign <= 1; sign += 2) {
    long unused;
    for (int k = 0; k < 4 * kCells; ++k) scratch[k] = start[k] + sign * 1e-6 * gradient[k];
    static double ignored[4 * kCells];
    check(anadrome_graph_plan(graph, INT64_MAX / 4, ANADROME_GRAPH_IN_ORDER, &all));
    difference += sign * run(graph, all.actions, scratch, ignored, &unused) / 2e-6;
  }
  const double error = fabs(difference / norm - 1);
  printf("gradient          %s, differences agree to %.1e\n", same ? "bitwise equal" : "DIFFERS",
         error);
  check(anadrome_graph_free(&graph));
  return same && peak == cost.peak_bytes && peak <= budget && error < 1e-7 ? 0 : 1;
}
