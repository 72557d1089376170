#include "bench/accuracy/maps.h"

#include "tests/test.h"

namespace tidemark::bench::maps_test {
namespace {

// Returns sequential tasks of 2 s and 1000 bytes each.
Trace Recorded(std::size_t tasks) {
  Trace trace = {.name = "job"};
  TraceStage& stage = trace.stages.emplace_back();
  stage.kind = StageKind::kMap;
  for (std::size_t i = 0; i < tasks; ++i) {
    const double start = 2.0 * static_cast<double>(i);
    stage.tasks.push_back({.start = start, .end = start + 2, .bytes = 1000});
  }
  return trace;
}

Row On(std::uint32_t slots, const std::string& made = "") {
  return {.workers = slots + 1, .scenario = made, .only_maps = true};
}

std::vector<std::uint64_t> BytesOf(const Trace& trace) {
  std::vector<std::uint64_t> bytes;
  for (const TraceTask& task : trace.stages[0].tasks) bytes.push_back(task.bytes.value_or(0));
  return bytes;
}

TEST(Maps, RunInWavesOnTheSlotsOfTheRow) {
  const Trace trace = MapPhaseOf(Recorded(12), On(4), 1);
  EXPECT_DOUBLE_EQ(trace.end, 6);
  EXPECT_DOUBLE_EQ(trace.stages[0].tasks[4].start, 2);
  EXPECT_THAT(BytesOf(trace), Each(1000));
}

TEST(Maps, AFileThatIsNotSplitIsOneTask) {
  const Trace trace = MapPhaseOf(Recorded(12), On(1, kWholeFiles), 1);
  EXPECT_THAT(BytesOf(trace), ElementsAre(10'000, 1000, 1000));
  EXPECT_DOUBLE_EQ(trace.stages[0].tasks[0].end, 20);
  EXPECT_DOUBLE_EQ(trace.end, 24);
}

TEST(Maps, SkewedFilesInEitherOrderKeepAllBytes) {
  const std::vector<std::uint64_t> up = BytesOf(MapPhaseOf(Recorded(90), On(3, kSmallestFirst), 7));
  const std::vector<std::uint64_t> down =
      BytesOf(MapPhaseOf(Recorded(90), On(3, kLargestFirst), 7));
  EXPECT_TRUE(std::ranges::is_sorted(up));
  EXPECT_TRUE(std::ranges::equal(up, std::vector(down.rbegin(), down.rend())));
  EXPECT_LT(up.size(), 90u);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : up) sum += bytes;
  EXPECT_EQ(sum, 90'000u);
}

TEST(Maps, EqualTasksHaveSmallErrorsForAllIndicators) {
  for (const char* made : {"", kNoSizes}) {
    const auto simulation = ReplayMaps(MapPhaseOf(Recorded(60), On(4, made), 1), 50);
    ASSERT_TRUE(simulation.ok()) << simulation.status();
    for (const IndicatorRecord& record : simulation->records) {
      ASSERT_EQ(record.predictions.size(), 50u) << record.indicator;
      EXPECT_THAT(record.predictions.back().end, Optional(simulation->timeline.end));
      EXPECT_LT(Measure(record.predictions, 0, simulation->timeline.end).avg_err, 6)
          << record.indicator << made;
    }
  }
}

}  // namespace
}  // namespace tidemark::bench::maps_test
