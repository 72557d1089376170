// A cluster in virtual time whose queries delay each other, and the true losses of each query.
//
// Each host has processors, a disk and a network, which the tasks that need them share evenly. A
// task alternates between fetching, reading and computing. Like a connector, it reports totals once
// per second: its wait for processors, and its time at disk and network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "master/waits/ledger.h"
#include "master/waits/proto_graph.h"

namespace tidemark::bench {

// The default is the paper's largest workload.
struct Shape {
  std::uint32_t hosts = 10;
  std::uint32_t queries = 10;
  std::uint32_t stages = 250;
  std::uint32_t tasks = 24'000;
  double cores = 8;
  // Number of concurrent tasks of a query on a host. If slots are shared, the number for all
  // queries together.
  std::uint32_t slots = 4;
  bool shared_slots = false;
  // Speed of disks and networks, relative to what one task can use.
  double streams = 1;
};

enum class Part : std::uint8_t { kNetwork, kDisk, kProcessor };
inline constexpr std::size_t kPartCount = 3;

struct SimulatedTask {
  std::uint32_t stage = 0;
  std::uint32_t host = 0;
  std::uint32_t rounds = 1;
  std::array<double, kPartCount> seconds{};  // durations without contention, over all rounds
};

struct Workload {
  Shape shape;
  std::vector<waits::QueryStage> stages;
  std::vector<double> submitted;  // time of submission of each query in seconds
  std::vector<SimulatedTask> tasks;
};

// Creates the workload. Equal seeds give equal workloads.
Workload MakeWorkload(const Shape& shape, std::uint64_t seed);

struct Report {
  std::uint32_t task = 0;
  double at = 0;
  bool is_last = false;
  waits::TaskUse totals;
};

struct TaskTimes {
  double queued_at = 0;
  double started_at = 0;
  double ended_at = 0;
  double processor_seconds = 0;
};

struct Outcome {
  std::vector<TaskTimes> tasks;
  std::vector<Report> reports;        // sorted by time; empty unless requested
  std::vector<double> query_seconds;  // time from submission to end
  // [from][by]: task seconds that a query lost to another query
  std::vector<std::vector<double>> taken;
};

// Simulates the workload, but omits the query `without` if it is set.
Outcome Simulate(const Workload& workload, bool with_reports,
                 std::optional<std::uint32_t> without = std::nullopt);

}  // namespace tidemark::bench
