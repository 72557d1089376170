#include "bench/workflow/state_estimate.h"

#include "tests/placement/some_stages.h"
#include "tests/test.h"

namespace tidemark::papers::state_estimate_test {
namespace {

using placement::OwnedBy;
using placement::Resourcing;
using placement::Slots;
using placement::Stage;
using placement::StageWork;

StateEstimate Estimate(const std::vector<StageWork>& stages, const std::vector<double>& seconds,
                       const Resourcing& on, StageTimeForm form) {
  return EstimateByStates(stages, seconds, on, form).value();
}

// 10 tasks of 6 s run on 4 slots. The printed form gives 3 waves, which take 18 s. The fluid form
// gives 10 x 6 / 4 = 15 s.
TEST(StateEstimate, CountsWholeWavesInThePrintedFormAndWorkInTheFluidForm) {
  const std::vector stages = {Stage(10)};
  EXPECT_DOUBLE_EQ(Estimate(stages, {6}, Slots(4), StageTimeForm::kPrinted).seconds, 18);
  EXPECT_DOUBLE_EQ(Estimate(stages, {6}, Slots(4), StageTimeForm::kFluid).seconds, 15);
}

// 2 tasks on 8 slots take as long as one task.
TEST(StateEstimate, TakesAtLeastOneTaskInTheFluidForm) {
  EXPECT_DOUBLE_EQ(Estimate({Stage(2)}, {6}, Slots(8), StageTimeForm::kFluid).seconds, 6);
}

// Two tasks have run for 2 and 5 of 6 s, and 4 tasks are pending on 2 slots. The printed form gives
// 4 s to the end of the wave and 2 further waves, in total 16 s. The fluid form gives (4 + 1 + 4 x
// 6) / 2 = 14.5 s.
TEST(StateEstimate, CarriesTheProgressOfRunningTasks) {
  const std::vector stages = {Stage(4, {}, {2, 5})};
  EXPECT_DOUBLE_EQ(Estimate(stages, {6}, Slots(2), StageTimeForm::kPrinted).seconds, 16);
  EXPECT_DOUBLE_EQ(Estimate(stages, {6}, Slots(2), StageTimeForm::kFluid).seconds, 14.5);
}

// On 4 slots, stage 0 has 4 tasks of 3 s. Stage 1, which follows, has 2 tasks of 5 s. Together they
// take 3 + 5 s.
TEST(StateEstimate, StartsAStageAfterItsParents) {
  const StateEstimate estimate =
      Estimate({Stage(4), Stage(2, {0})}, {3, 5}, Slots(4), StageTimeForm::kPrinted);
  EXPECT_DOUBLE_EQ(estimate.seconds, 8);
  EXPECT_THAT(estimate.ends, ElementsAre(3, 8));
  ASSERT_EQ(estimate.states.size(), 2u);
  EXPECT_THAT(estimate.states[1].degrees, ElementsAre(2));
}

// Two owners share 4 slots, and have 2 tasks of 4 s and 6 tasks of 4 s. In state 1, each has 2
// slots, until the first ends at 4 s. Then the second has 4 tasks left and all 4 slots, so it takes
// 4 s more.
TEST(StateEstimate, GivesTheSlotsOfAnEndedStageToTheOthers) {
  const StateEstimate estimate =
      Estimate({OwnedBy(0, Stage(2)), OwnedBy(1, Stage(6))}, {4, 4},
               Slots(4, placement::Policy::kFair), StageTimeForm::kPrinted);
  EXPECT_THAT(estimate.ends, ElementsAre(4, 8));
  ASSERT_EQ(estimate.states.size(), 2u);
  EXPECT_THAT(estimate.states[0].degrees, ElementsAre(2, 2));
  EXPECT_THAT(estimate.states[1].degrees, ElementsAre(4));
}

TEST(StateEstimate, WaitsForTheLagOfAStage) {
  StageWork late = Stage(1, {0});
  late.lag = 2;
  EXPECT_THAT(Estimate({Stage(1), late}, {3, 5}, Slots(1), StageTimeForm::kFluid).ends,
              ElementsAre(3, 10));
}

TEST(StateEstimate, PassesThroughStagesWithoutTasks) {
  EXPECT_THAT(
      Estimate({Stage(0), Stage(0, {0}), Stage(1, {1})}, {3, 5, 7}, Slots(1), StageTimeForm::kFluid)
          .ends,
      ElementsAre(0, 0, 7));
  EXPECT_EQ(Estimate({}, {}, Slots(1), StageTimeForm::kFluid).seconds, 0);
}

TEST(StateEstimate, RejectsInvalidInput) {
  const auto message = [](const std::vector<StageWork>& stages,
                          const std::vector<double>& seconds) {
    return std::string(
        EstimateByStates(stages, seconds, Slots(2), StageTimeForm::kFluid).status().message());
  };
  EXPECT_THAT(message({Stage(1, {0})}, {1}), HasSubstr("cycle"));
  EXPECT_THAT(message({Stage(1, {4})}, {1}), HasSubstr("only 1"));
  EXPECT_THAT(message({Stage(1)}, {-1}), HasSubstr("task time"));
  EXPECT_THAT(message({Stage(1)}, {NAN}), HasSubstr("task time"));
  EXPECT_THAT(message({Stage(1, {}, {NAN})}, {1}), HasSubstr("finite"));
  EXPECT_THAT(message({Stage(1)}, {}), HasSubstr("every stage"));
}

std::vector<StageWork> AnyDag(std::mt19937_64& random, std::size_t stages) {
  std::vector<StageWork> dag(stages);
  for (std::size_t i = 0; i < stages; ++i) {
    dag[i].pending = random() % 20;
    for (std::size_t k = 0; k < 2 && i > 0; ++k) {
      if (random() % 2 == 0) dag[i].parents.push_back(random() % i);
    }
  }
  return dag;
}

// The end is at least the work divided by the slots, and at most the sum of all stages in whole
// waves.
TEST(StateEstimate, LiesBetweenTheWorkAndTheSumOfAllStages) {
  constexpr double kLongest = 9;
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    const auto dag = AnyDag(random, 1 + random() % 12);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < dag.size(); ++i)
      seconds.push_back(static_cast<double>(1 + random() % static_cast<int>(kLongest)));
    const double slots = static_cast<double>(1 + random() % 8);
    double work = 0;
    double serial = 0;
    for (std::size_t i = 0; i < dag.size(); ++i) {
      const double tasks = static_cast<double>(dag[i].pending);
      work += tasks * seconds[i];
      serial += std::ceil(tasks / slots) * seconds[i];
    }
    for (const StageTimeForm form : {StageTimeForm::kPrinted, StageTimeForm::kFluid}) {
      const double end = Estimate(dag, seconds, Slots(slots), form).seconds;
      EXPECT_GE(end, work / slots - 1e-6) << round;
      // Equation 7 as printed counts overlapping whole waves, and can exceed even this bound. The
      // fluid form may count a whole task instead of its remainder.
      if (form == StageTimeForm::kFluid) {
        EXPECT_LE(end, serial + kLongest) << round;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::papers::state_estimate_test
