// What the cost models cost: fitting a curve, refreshing the model of a task, building the model of
// a job and asking it. Goals: refreshing a task well below 5 ms, building the model of 1,000 tasks
// with 500 points each in tens of milliseconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "absl/time/time.h"
#include "master/papers/nearest_fit.h"
#include "master/papers/power_law_fit.h"
#include "tidemark/event.h"

namespace tidemark::papers {
namespace {

// `count` key groups on a + b x^c with 10 % noise; a, b, c and the sizes are drawn anew for each
// seed, the sizes log-uniform within 10 B .. 10 MB.
struct Problem {
  double a, b, c;
  std::vector<GroupPoint> points;
  double TrueSeconds(double size_bytes) const { return a + b * std::pow(size_bytes, c); }
};

std::vector<std::uint64_t> LogUniformSizes(std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(1, 7);
  std::vector<std::uint64_t> sizes(count);
  for (auto& size : sizes) size = static_cast<std::uint64_t>(std::pow(10, exponent(random)));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

Problem RandomProblem(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0.5, 3);
  std::uniform_real_distribution<double> seconds_of_largest(0.1, 1000);
  std::normal_distribution<double> noise(0, 0.1);
  Problem problem;
  problem.c = exponent(random);
  problem.b = seconds_of_largest(random) / std::pow(1e7, problem.c);
  problem.a = 0.05 * problem.b * std::pow(1e5, problem.c);
  for (const std::uint64_t size : LogUniformSizes(count, random)) {
    const double seconds = problem.TrueSeconds(static_cast<double>(size)) * std::exp(noise(random));
    problem.points.push_back({size, 1, absl::Seconds(seconds)});
  }
  return problem;
}

std::vector<Problem> Problems(std::size_t count, std::size_t points) {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    problems.push_back(RandomProblem(points, seed));
  }
  return problems;
}

void BM_FitPowerLaw(benchmark::State& state) {
  const auto problems = Problems(50, static_cast<std::size_t>(state.range(0)));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(FitPowerLaw(problems[next++ % problems.size()].points));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FitPowerLaw)->Arg(50)->Arg(500)->Arg(2000);

void BM_MakeTaskModel(benchmark::State& state) {
  const auto problem = RandomProblem(static_cast<std::size_t>(state.range(0)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(MakeTaskModel(problem.points));
}
BENCHMARK(BM_MakeTaskModel)->Arg(500)->Arg(8192)->Unit(benchmark::kMicrosecond);

// What the tasks of a job have shown. Sizes: the same small numbers in each task, as in a graph
// (kShared), or all different (kDistinct). kFewSizes: 8 sizes a task, so that no curve of its own
// counts and step 4 compares those of the others.
enum JobKind { kShared, kDistinct, kFewSizes };

std::vector<std::shared_ptr<const TaskModel>> TasksOf(JobKind kind, std::size_t tasks,
                                                      std::size_t points_each) {
  std::vector<std::shared_ptr<const TaskModel>> models;
  for (std::size_t task = 0; task < tasks; ++task) {
    std::mt19937_64 random(task + 1);
    std::normal_distribution<double> noise(0, 0.15);
    auto sizes = LogUniformSizes(points_each, random);
    for (std::size_t i = 0; i < points_each; ++i) {
      if (kind == kShared) sizes[i] = 8 * (i + 1);
      if (kind == kFewSizes && task > 0) sizes[i] = 1000 * (1 + i * 8 / points_each);
    }
    std::vector<GroupPoint> points;
    for (const std::uint64_t size : sizes) {
      const double x = static_cast<double>(size);
      points.push_back({size, 1, absl::Seconds((1e-4 + 1e-9 * x * x) * std::exp(noise(random)))});
    }
    models.push_back(MakeTaskModel(points));
  }
  return models;
}

void BM_BuildModel(benchmark::State& state) {
  const auto tasks =
      TasksOf(static_cast<JobKind>(state.range(0)), static_cast<std::size_t>(state.range(1)), 500);
  for (auto _ : state) benchmark::DoNotOptimize(NearestFitModel(tasks));
}
BENCHMARK(BM_BuildModel)
    ->ArgNames({"kind", "tasks"})
    ->ArgsProduct({{kShared, kDistinct, kFewSizes}, {10, 1000}})
    ->Unit(benchmark::kMillisecond);

// Asks for sizes within the data (neighbours) and far beyond it (curves), in turn over the tasks
// and one more that has shown nothing.
void Ask(benchmark::State& state, std::uint64_t size_bytes) {
  auto tasks = TasksOf(static_cast<JobKind>(state.range(0)), 1000, 500);
  tasks.push_back(nullptr);
  const NearestFitModel model(tasks);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.Predict(next, size_bytes));
    next = next + 1 == tasks.size() ? 0 : next + 1;
  }
}
void BM_PredictWithin(benchmark::State& state) { Ask(state, 2000); }
BENCHMARK(BM_PredictWithin)->ArgName("kind")->Arg(kShared)->Arg(kDistinct)->Arg(kFewSizes);
void BM_PredictBeyond(benchmark::State& state) { Ask(state, 1'000'000'000); }
BENCHMARK(BM_PredictBeyond)->ArgName("kind")->Arg(kShared)->Arg(kDistinct)->Arg(kFewSizes);

// A task that has shown nothing asks the neighbours of all tasks.
void BM_PredictFromAllNeighbours(benchmark::State& state) {
  auto tasks = TasksOf(static_cast<JobKind>(state.range(0)), 1000, 500);
  tasks.push_back(nullptr);
  const NearestFitModel model(tasks);
  for (auto _ : state) benchmark::DoNotOptimize(model.Predict(tasks.size() - 1, 2000));
}
BENCHMARK(BM_PredictFromAllNeighbours)
    ->ArgName("kind")
    ->Arg(kShared)
    ->Arg(kDistinct)
    ->Arg(kFewSizes);

}  // namespace
}  // namespace tidemark::papers

BENCHMARK_MAIN();
