#include "bench/accuracy/simulate.h"

#include "tests/bench/some_costs.h"
#include "tests/test.h"

namespace tidemark::bench::simulate_test {
namespace {

constexpr std::uint32_t kGroups = 2000;

SimulationOptions SomeOptions() {
  return {.slots = 3, .reduce_tasks = 6, .indicators = {"jobratio", "hadoop"}};
}

double LastEnd(const IndicatorRecord& record) { return record.predictions.back().end.value_or(-1); }

TEST(Simulate, IndicatorsOfTheMonitorAndTheOraclePredictAtEveryUpdate) {
  const auto simulation = Simulate(SomeCosts(kGroups), SomeOptions());
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  EXPECT_EQ(simulation->refused_events, 0u);
  ASSERT_EQ(simulation->records.size(), 3u);
  EXPECT_EQ(simulation->records[0].indicator, "jobratio");
  EXPECT_EQ(simulation->records[2].indicator, kOracle);
  for (const IndicatorRecord& record : simulation->records) {
    ASSERT_EQ(record.predictions.size(), 100u) << record.indicator;
    EXPECT_NEAR(LastEnd(record), simulation->timeline.end, 1e-6) << record.indicator;
  }
}

TEST(Simulate, AnIndicatorThatIsNotInASnapshotPredictsNothing) {
  Snapshot snapshot;
  snapshot.estimate = {.remaining = Range{absl::Seconds(3)}, .indicator = "tidemark"};
  EXPECT_EQ(PredictionOf(snapshot, "tidemark", 2).end, 5);
  EXPECT_FALSE(PredictionOf(snapshot, "hadoop", 2).end.has_value());
}

TEST(Simulate, PredictsTheSameTwice) {
  const CostLog log = SomeCosts(kGroups);
  const auto first = Simulate(log, SomeOptions());
  const auto again = Simulate(log, SomeOptions());
  ASSERT_TRUE(first.ok() && again.ok());
  for (std::size_t i = 0; i < first->records.size(); ++i) {
    for (std::size_t k = 0; k < first->records[i].predictions.size(); ++k) {
      EXPECT_EQ(first->records[i].predictions[k].end, again->records[i].predictions[k].end);
    }
  }
}

// Costs are proportional to sizes, except for a random factor of 1 to 3.
TEST(Simulate, LinearCostsHaveSmallErrorsForALinearIndicator) {
  const auto simulation = Simulate(SomeCosts(kGroups), SomeOptions());
  ASSERT_TRUE(simulation.ok());
  const Metrics metrics = Measure(simulation->records[0].predictions, 0, simulation->timeline.end);
  EXPECT_LT(metrics.avg_err, 3);
}

class EveryScenario : public ::testing::TestWithParam<Scenario> {};

TEST_P(EveryScenario, Ends) {
  const Scenario& scenario = GetParam();
  CostLog log = SomeCosts(kGroups);
  if (scenario.change_costs != nullptr) scenario.change_costs(log);
  SimulationOptions options = SomeOptions();
  options.scenario = scenario;
  const auto simulation = Simulate(log, options);
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  EXPECT_NEAR(LastEnd(simulation->records.back()), simulation->timeline.end, 1e-6);
  if (scenario.lost_events > 0) return;
  EXPECT_EQ(simulation->refused_events, 0u);
  EXPECT_NEAR(LastEnd(simulation->records.front()), simulation->timeline.end, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, EveryScenario, ::testing::ValuesIn(AllScenarios()),
                         [](const auto& instance) {
                           std::string name = instance.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tidemark::bench::simulate_test
