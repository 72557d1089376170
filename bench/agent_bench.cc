// Measures the cost of the agent for a reduce task in nanoseconds per key group and per value. A
// live background thread and a master run in this process. The goal is 50 ns per key group.
//
// The counter points_dropped is the share of key groups whose point was dropped because the buffer
// was full. Totals remain exact. A real task drops no points, since it does more than these loops,
// which only report.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "agent/reduce_recorder.h"
#include "tidemark/agent.h"
#include "tidemark/master.h"

namespace tidemark::agent {
namespace {

std::unique_ptr<Master> StartMaster() {
  auto master = Master::Start({.listen_address = "127.0.0.1:0"});
  if (!master.ok()) std::abort();  // Without a master, the measurement would be meaningless.
  return *std::move(master);
}

// Returns 12-byte keys, of which consecutive keys always differ.
std::vector<std::string> MakeKeys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 1024; ++i) keys.push_back("key-" + std::to_string(10'000'000 + i));
  return keys;
}

void RunGroups(benchmark::State& state, Agent& agent, std::uint64_t values, std::uint64_t bytes) {
  const std::vector<std::string> keys = MakeKeys();
  const std::unique_ptr<ReduceTaskAgent> task = agent.StartReduceTask({});
  task->Shuffled();
  std::size_t next = 0;
  for (auto _ : state) {
    task->BeginGroup(keys[next++ % keys.size()]);
    for (std::uint64_t i = 0; i < values; ++i) task->ValueRead(bytes);
    task->BytesEmitted(bytes);
    task->EndGroup();
  }
  task->Finish();
  agent.Flush(absl::Seconds(5));
  const auto groups = static_cast<double>(state.iterations());
  state.counters["groups_per_s"] = benchmark::Counter(groups, benchmark::Counter::kIsRate);
  state.counters["points_dropped"] = static_cast<double>(agent.stats().points_dropped) / groups;
}

// The arguments are values per key group and bytes per value.
void BM_LiveAgent(benchmark::State& state) {
  const auto master = StartMaster();
  const auto agent = Agent::Create({.master_address = master->address(), .job_id = "bench"});
  agent->OpenJob({.name = "bench", .stages = MapReduceStages(1, 1)});
  RunGroups(state, *agent, static_cast<std::uint64_t>(state.range(0)),
            static_cast<std::uint64_t>(state.range(1)));
}

void BM_NoAgent(benchmark::State& state) {
  const auto agent = Agent::Create({.job_id = "bench"});
  RunGroups(state, *agent, static_cast<std::uint64_t>(state.range(0)),
            static_cast<std::uint64_t>(state.range(1)));
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"values", "bytes"});
  benchmark->Args({1, 12});   // tiny groups, timed in bursts
  benchmark->Args({1, 100});  // large groups, for each of which the clock is read once
  // the cost of a value is the difference to the line above, divided by 99
  benchmark->Args({100, 100});
  benchmark->UseRealTime();
}
BENCHMARK(BM_LiveAgent)->Apply(Shapes);
BENCHMARK(BM_NoAgent)->Apply(Shapes);

// Measures how long the background thread takes for a key group. The thread splits bursts, merges
// points and fills bins. The argument is the number of key groups per burst.
void BM_Collect(benchmark::State& state) {
  const auto shared = std::make_shared<Shared>(AgentOptions{.job_id = "bench"}, "bench");
  const auto meter = std::make_shared<ReduceMeter>();
  ReduceReporter reporter({kReduceStage, 0, 0}, shared, meter);
  const auto together = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kGroups = 20'000;
  for (auto _ : state) {
    state.PauseTiming();
    for (std::size_t i = 1; i <= kGroups; ++i) {
      meter->ring.Write(KeyHash{i}, together > 1 ? 12 + i % 30 : 100 + i % 1'000, 20);
      if (i % together == 0) meter->ring.Publish(5'000);
    }
    state.ResumeTiming();
    reporter.Collect();
  }
  state.counters["s_per_group"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kGroups,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Collect)->ArgName("together")->Arg(100)->Arg(1);

void BM_MapTask(benchmark::State& state) {
  const auto master = StartMaster();
  const auto agent = Agent::Create({.master_address = master->address(), .job_id = "bench"});
  agent->OpenJob({.name = "bench", .stages = MapReduceStages(1, 8)});
  const std::vector<std::string> keys = MakeKeys();
  const std::unique_ptr<MapTaskAgent> task = agent->StartMapTask({});
  std::uint64_t next = 0;
  for (auto _ : state) {
    task->AddGroup(static_cast<std::uint32_t>(next % 8), keys[next % keys.size()],
                   (next * 2654435761) % 100'000);
    ++next;
  }
  task->Finish();
}
BENCHMARK(BM_MapTask);

}  // namespace
}  // namespace tidemark::agent

BENCHMARK_MAIN();
