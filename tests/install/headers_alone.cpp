// SPDX-License-Identifier: BSD-2-Clause
/* Every installed header, alone and twice; also what only a use would compile. */
#include <anadrome/anadrome.hpp>
#include <anadrome/schedule.hpp>
#include <anadrome/sketch.hpp>
#include <array>

std::int64_t steps_of(anadrome::Schedule& schedule);
std::int64_t steps_of(anadrome::Schedule& schedule) {
  std::int64_t steps = 0;
  for (const anadrome::ScheduleAction& action : schedule) steps += action.last - action.first;
  schedule.finish_forward(schedule.next().first);
  return steps;
}

std::vector<float> gradient_of(anadrome::Sketch<float>& sketch, const std::vector<float>& x);
std::vector<float> gradient_of(anadrome::Sketch<float>& sketch, const std::vector<float>& x) {
  sketch.push(0, x);
  sketch.correlate(0, x);
  anadrome::Sketch<float> other = std::move(sketch);
  return other.variance().empty() ? std::vector<float>() : other.gradient();
}

struct Everything {
  anadrome::Run run;
  std::vector<double> vector;
  std::array<std::int32_t, 3> array;
  std::complex<float> number;

  explicit Everything(MPI_Comm comm) : run(comm), array() {
    run.set("memory", "1MiB").set("name", "x");
    run.add_field("vector", vector);
    run.add_field("array", array, ANADROME_ROLE_TAPE);
    run.add_field("number", &number, 1, ANADROME_ROLE_ADJOINT);
    run.add_packed(
        "packed", 8, [](void*, std::size_t) {}, [](const void*, std::size_t) {});
#if __cplusplus >= 202002L
    run.add_field("span", std::span<double>(vector).first(0));
    static_assert(std::input_iterator<anadrome::Actions::Iterator>);
#endif
  }

  std::int64_t sweep() {
    anadrome::Exchanged<double> field = run.add_exchanged<double>("field", 3);
    std::int64_t steps = 0;
    for (const anadrome::Action& action : run.sweep(10)) steps += action.last - action.first;
    for (const anadrome::Action& action : run.rewind()) steps += action.first;
    anadrome::Model model;
    model.start = [&] { field.then()[0] = field.now()[1]; };
    model.advance = [](std::int64_t, std::int64_t, std::int64_t&) {};
    model.record = [](std::int64_t, std::int64_t&) {};
    model.turn = [](std::int64_t) {};
    model.adjoint = [](std::int64_t) {};
    run.solve(10, model);
    anadrome::Run other = std::move(run);
    run = std::move(other);
    run.fail("why");
    run.request_stop();
    run.finish_forward(3);
    run.close();
    return steps + run.statistics().steps + static_cast<std::int64_t>(field.size());
  }
};
