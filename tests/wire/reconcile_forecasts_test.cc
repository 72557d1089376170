#include "tidemark/reconcile_forecasts.h"

#include "tests/test.h"

namespace tidemark::reconcile_forecasts_test {
namespace {

Range Seconds(double lower, double median, double upper) {
  return {.median = absl::Seconds(median),
          .lower = absl::Seconds(lower),
          .upper = absl::Seconds(upper)};
}

Child Waits(std::uint32_t number, std::vector<std::uint32_t> after, const Range& start,
            const Range& end) {
  return {.number = number,
          .estimate = {.remaining = end},
          .starts_in = start,
          .after = std::move(after)};
}

// Rounding moved the end of the second job before its start.
TEST(ReconcileForecasts, StartsNoJobBeforeThoseThatItWaitsForEnd) {
  Snapshot snapshot;
  snapshot.estimate.remaining = Seconds(5, 60, 300);
  snapshot.children = {Waits(1, {}, Seconds(0, 0, 0), Seconds(3, 29, 200)),
                       Waits(2, {1}, Seconds(2, 28, 210), Seconds(4, 25, 190)),
                       Waits(3, {2}, Seconds(1, 24, 180), Seconds(5, 53, 250))};
  ReconcileForecasts(snapshot, /*ends_with_parts=*/true);
  EXPECT_EQ(snapshot.children[0].estimate.remaining, Seconds(3, 29, 200));
  EXPECT_EQ(snapshot.children[1].starts_in, Seconds(3, 29, 210));
  EXPECT_EQ(snapshot.children[1].estimate.remaining, Seconds(4, 29, 210));
  EXPECT_EQ(snapshot.children[2].starts_in, Seconds(4, 29, 210));
  EXPECT_EQ(snapshot.children[2].estimate.remaining, Seconds(5, 60, 300)) << "as the whole";
}

TEST(ReconcileForecasts, EndsNoPartAfterTheWhole) {
  Snapshot snapshot;
  snapshot.estimate.remaining = Seconds(10, 20, 30);
  snapshot.stage_infos = {{.id = {0, 0}}, {.id = {0, 1}, .parents = {0}, .group = "sql/1"}};
  snapshot.stages = {
      {.id = {0, 0}, .ends_in = Seconds(8, 25, 90)},
      {.id = {0, 1}, .starts_in = Seconds(8, 12, 90), .ends_in = Seconds(9, 18, 29)}};
  snapshot.groups = {{.group = "sql/1", .ends_in = Seconds(9, 40, 50)}};
  ReconcileForecasts(snapshot, /*ends_with_parts=*/false);
  EXPECT_EQ(snapshot.stages[0].ends_in, Seconds(8, 20, 30));
  EXPECT_EQ(snapshot.stages[1].starts_in, Seconds(8, 20, 30));
  EXPECT_EQ(snapshot.stages[1].ends_in, Seconds(9, 20, 30));
  EXPECT_EQ(snapshot.groups[0].ends_in, Seconds(9, 20, 30));
}

TEST(ReconcileForecasts, EndsThePartThatEndsLastWithTheWhole) {
  Snapshot snapshot;
  snapshot.estimate.remaining = Seconds(10, 20, 30);
  snapshot.stage_infos = {{.id = {0, 0}}, {.id = {0, 1}}};
  snapshot.stages = {{.id = {0, 0}, .ends_in = Range{.median = absl::Seconds(18)}},
                     {.id = {0, 1}, .ends_in = Seconds(7, 17, 28), .is_critical = true}};
  Snapshot growing = snapshot;
  ReconcileForecasts(snapshot, /*ends_with_parts=*/true);
  EXPECT_EQ(snapshot.stages[0].ends_in, Range{.median = absl::Seconds(18)});
  EXPECT_EQ(snapshot.stages[1].ends_in, Seconds(10, 20, 30)) << "it is critical";
  ReconcileForecasts(growing, /*ends_with_parts=*/false);
  EXPECT_EQ(growing.stages[1].ends_in, Seconds(7, 17, 28)) << "more may come";
}

TEST(ReconcileForecasts, KeepsTheStagesOfAJobWithinIt) {
  Snapshot snapshot;
  snapshot.children = {Waits(1, {}, Seconds(0, 0, 0), Seconds(5, 10, 15)),
                       Waits(2, {1}, Seconds(5, 10, 15), Seconds(9, 19, 40))};
  snapshot.stage_infos = {{.id = {2, 0}}, {.id = {2, 1}, .parents = {0}}};
  snapshot.stages = {{.id = {2, 0},
                      .starts_in = Range{.median = absl::Seconds(8)},
                      .ends_in = Range{.median = absl::Seconds(16)}},
                     {.id = {2, 1},
                      .starts_in = Range{.median = absl::Seconds(15)},
                      .ends_in = Range{.median = absl::Seconds(20)}}};
  ReconcileForecasts(snapshot, /*ends_with_parts=*/true);
  EXPECT_EQ(snapshot.stages[0].starts_in->median, absl::Seconds(10));
  EXPECT_EQ(snapshot.stages[1].starts_in->median, absl::Seconds(16));
  EXPECT_EQ(snapshot.children[1].estimate.remaining, Seconds(9, 20, 40));
}

TEST(ReconcileForecasts, LeavesPartsInACycleAsTheyAre) {
  Snapshot snapshot;
  snapshot.children = {Waits(1, {2}, Seconds(0, 1, 2), Seconds(5, 10, 15)),
                       Waits(2, {1}, Seconds(0, 1, 2), Seconds(5, 10, 15))};
  const Snapshot before = snapshot;
  ReconcileForecasts(snapshot, /*ends_with_parts=*/true);
  EXPECT_EQ(snapshot, before);
}

}  // namespace
}  // namespace tidemark::reconcile_forecasts_test
