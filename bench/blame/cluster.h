// A cluster in virtual time whose queries slow one another down, and who took how much from whom.
//
// Hosts have processors, a disk and a network, each of which is shared evenly by the tasks that
// want it at an instant. A task fetches, reads and computes by turns; what it reports are totals,
// once a second, as connectors do: of processors the time it was kept from them, of disk and
// network the time it spent there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "master/waits/resource.h"
#include "master/waits/stage.h"

namespace tidemark::bench {

// The paper's largest workload.
struct Shape {
  std::uint32_t hosts = 10;
  std::uint32_t queries = 10;
  std::uint32_t stages = 250;
  std::uint32_t tasks = 24'000;
  double cores = 8;
  // Tasks of a query that run at once on a host; if slots are shared, of all queries.
  std::uint32_t slots = 4;
  bool shared_slots = false;
  // Disks and networks that are so many times as fast as a task can use them.
  double streams = 1;
};

enum class Part : std::uint8_t { kNetwork, kDisk, kProcessor };
inline constexpr std::size_t kPartCount = 3;

struct SimulatedTask {
  std::uint32_t stage = 0;
  std::uint32_t host = 0;
  std::uint32_t rounds = 1;
  std::array<double, kPartCount> seconds{};  // alone, in all rounds
};

struct Workload {
  Shape shape;
  std::vector<blame::StageInfo> stages;
  std::vector<double> submitted;  // by query, seconds
  std::vector<SimulatedTask> tasks;
};

// The same for the same seed.
Workload MakeWorkload(const Shape& shape, std::uint64_t seed);

struct Report {
  std::uint32_t task = 0;
  double at = 0;
  bool is_last = false;
  blame::TaskUse totals;
};

struct TaskTimes {
  double queued_at = 0;
  double started_at = 0;
  double ended_at = 0;
  double processor_seconds = 0;
};

struct Outcome {
  std::vector<TaskTimes> tasks;
  std::vector<Report> reports;             // in order of time; empty if not asked for
  std::vector<double> query_seconds;       // from its submission to its end
  std::vector<std::vector<double>> taken;  // [from][by]: task seconds lost to another query
};

// `without`: as if that query had not been submitted.
Outcome Simulate(const Workload& workload, bool with_reports,
                 std::optional<std::uint32_t> without = std::nullopt);

}  // namespace tidemark::bench
