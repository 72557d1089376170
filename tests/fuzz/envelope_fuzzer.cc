// Fuzzes the path from untrusted bytes to the snapshot. Every snapshot must be valid.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/wire/parse_event.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/monitor/check_snapshot.h"
#include "tidemark/job_monitor.h"

namespace {

// Returns options with limits that are small enough to be reached with few bytes.
tidemark::JobMonitorOptions Options() {
  tidemark::JobMonitorOptions options;
  options.lambda = 4;
  options.limits = {.map_tasks_max = 100,
                    .reduce_tasks_max = 20,
                    .attempts_per_task_max = 4,
                    .sources_max = 8,
                    .stages_max = 8,
                    .state_bytes_max = std::size_t{1} << 20};
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  testing::GTEST_FLAG(break_on_failure) = true;
  tidemark::JobMonitor monitor("fuzz", Options());
  absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  int count = 0;
  std::uint64_t sequence = 0;
  for (tidemark::fuzz::Pieces pieces(data, size); !pieces.empty();) {
    const std::string_view bytes = pieces.Next();
    now += absl::Milliseconds(300);
    // Uses few sources, so that events refer to opened sources.
    const std::string source = bytes.size() % 8 == 0 ? "b" : "a";
    const auto event = tidemark::wire::ParseEvent({.job_id = "fuzz",
                                                   .source_id = source,
                                                   .sequence = ++sequence,
                                                   .sent_at = now,
                                                   .body = std::string(bytes)},
                                                  now);
    if (!event.ok() || !monitor.Apply(*event).ok()) monitor.CountRejected();
    if (++count % 4 == 0 && monitor.is_open()) tidemark::test::Check(monitor.Tick(now));
  }
  if (monitor.is_open()) tidemark::test::Check(monitor.Tick(now + absl::Seconds(1)));
  return 0;
}
