// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_model.h"

// The adjoint grows as exp(0.9 t). Over this time that is a factor of some thousands, which double
// precision bears well; over ten times this time nothing would be left of it.
static const double longest_time = 10.0;
// Few steps cover a shorter time: with longer steps the method would be unstable.
static const double longest_step = 0.005;

void lorenz_problem_init(lorenz_problem* problem, int64_t steps, int64_t member) {
  const lorenz_state start = {1.0 + 0.01 * (double)member, 1.0, 20.0};
  problem->control.parameters = (lorenz_parameters){10.0, 28.0, 8.0 / 3.0};
  problem->control.start = start;
  problem->target = (lorenz_state){5.0, 5.0, 25.0};
  problem->steps = steps;
  problem->weight = steps > 0 ? 1.0 / (double)steps : 0.0;
  problem->dt = longest_time * problem->weight;
  if (problem->dt > longest_step) problem->dt = longest_step;
}

double lorenz_turn(const lorenz_problem* problem, lorenz_state last, lorenz_control* gradient) {
  const lorenz_state off = {last.x - problem->target.x, last.y - problem->target.y,
                            last.z - problem->target.z};
  gradient->parameters = (lorenz_parameters){0.0, 0.0, 0.0};
  gradient->start = off;
  return 0.5 * (off.x * off.x + off.y * off.y + off.z * off.z);
}

double lorenz_objective(const lorenz_problem* problem, double of_last, double z_sum) {
  return problem->weight * z_sum + of_last;
}

double lorenz_dot(const lorenz_control* a, const lorenz_control* b) {
  return a->parameters.sigma * b->parameters.sigma + a->parameters.rho * b->parameters.rho +
         a->parameters.beta * b->parameters.beta + a->start.x * b->start.x +
         a->start.y * b->start.y + a->start.z * b->start.z;
}

lorenz_control lorenz_moved_control(const lorenz_control* control, double epsilon,
                                    const lorenz_control* direction) {
  lorenz_control moved = *control;
  moved.parameters.sigma += epsilon * direction->parameters.sigma;
  moved.parameters.rho += epsilon * direction->parameters.rho;
  moved.parameters.beta += epsilon * direction->parameters.beta;
  moved.start.x += epsilon * direction->start.x;
  moved.start.y += epsilon * direction->start.y;
  moved.start.z += epsilon * direction->start.z;
  return moved;
}
