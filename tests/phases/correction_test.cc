#include "whatif/phases/correction.h"

#include "tests/test.h"

namespace tidemark::phases::correction_test {
namespace {

Correction Learnt(const std::vector<ObservedError>& seen) {
  return Correction::Learn(seen).value();
}

double At(const Correction& correction, std::size_t stage, const std::vector<double>& settings) {
  return correction.Predict(std::vector<TimeAt>{{{.stage = stage}, settings}})[0];
}

double VarianceAt(const Correction& correction, std::size_t stage,
                  const std::vector<double>& settings) {
  const double once = 1;
  return correction.Variance(std::vector<TimeAt>{{{.stage = stage}, settings}}, {&once, 1});
}

double Covariance(const Correction& correction, const TimeAt& one, const TimeAt& other) {
  const auto of_sum = [&](double of_one, double of_other) {
    return correction.Variance(std::vector<TimeAt>{one, other},
                               std::vector<double>{of_one, of_other});
  };
  return (of_sum(1, 1) - of_sum(1, 0) - of_sum(0, 1)) / 2;
}

// Returns errors for these values of two settings. Each doubling of the first setting adds a fifth
// to the modelled time. The second setting has no effect.
std::vector<ObservedError> SeenAt(const std::vector<std::vector<double>>& settings) {
  std::vector<ObservedError> seen;
  for (std::size_t run = 0; run < settings.size(); ++run) {
    for (std::size_t stage = 0; stage < 3; ++stage) {
      seen.push_back({.time = {.stage = stage},
                      .run = run,
                      .settings = settings[run],
                      .log_error = 0.1 * static_cast<double>(stage) + 0.2 * settings[run][0]});
    }
  }
  return seen;
}

TEST(Correction, FollowsTheObservedEffectOfASetting) {
  const Correction learnt = Learnt(SeenAt({{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_THAT(At(learnt, 0, {2, 0.5}), DoubleNear(0.4, 0.03));
  EXPECT_THAT(At(learnt, 2, {1, 0.5}), DoubleNear(0.4, 0.03));
  EXPECT_THAT(At(learnt, 1, {3, 0.5}), DoubleNear(0.7, 0.06));
}

TEST(Correction, DeviationGrowsWithTheDistance) {
  const Correction learnt = Learnt(SeenAt({{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  const double near = VarianceAt(learnt, 0, {0.5, 0.5});
  EXPECT_GT(VarianceAt(learnt, 0, {4, 0.5}), near);
  EXPECT_GT(VarianceAt(learnt, 0, {0.5, 4}), near);
  EXPECT_GT(VarianceAt(learnt, 77, {0.5, 0.5}), near);  // The stage is unknown.
}

// The effect of a setting that never varied is unknown. The models determine the estimate, with a
// wider deviation.
TEST(Correction, AssumesNoEffectOfASettingThatNeverVaried) {
  const Correction learnt = Learnt(SeenAt({{0, 3}, {1, 3}, {2, 3}}));
  EXPECT_NEAR(At(learnt, 0, {1, 5}), At(learnt, 0, {1, 3}), 1e-9);
  EXPECT_GT(VarianceAt(learnt, 0, {1, 5}), VarianceAt(learnt, 0, {1, 3}));
}

// The first setting has no effect. The second setting has two doublings with an effect of 0.3 each.
TEST(Correction, ConstantSettingStaysUncertainBesideSettingsWithoutEffect) {
  std::vector<ObservedError> seen = SeenAt({{0, 3}, {1, 3}, {2, 3}, {3, 3}});
  for (ObservedError& one : seen) one.log_error = 0.1 * static_cast<double>(one.time.stage);
  const Correction learnt = Learnt(seen);
  const double known = VarianceAt(learnt, 0, {1, 3});
  EXPECT_LT(known, 0.1);
  EXPECT_GE(VarianceAt(learnt, 0, {1, 5}), known + 0.35);
}

TEST(Correction, OneRunReproducesItself) {
  const Correction learnt = Learnt({{.settings = {1}, .log_error = 0.5}});
  EXPECT_THAT(At(learnt, 0, {1}), DoubleNear(0.5, 0.05));
  EXPECT_GT(VarianceAt(learnt, 0, {1}), 0);
}

TEST(Correction, ErrorsOfStagesInOneRunAreCorrelated) {
  const Correction learnt = Learnt(SeenAt({{0, 0}, {1, 1}}));
  const double both = Covariance(learnt, {{.stage = 0}, {1, 0}}, {{.stage = 1}, {1, 0}});
  EXPECT_GT(both, 0);
  EXPECT_LT(both, VarianceAt(learnt, 0, {1, 0}));
}

// The variance of an unrelated time with the same settings has several parts. 0.3^2 is common to
// all times of a kind, and 0.5^2 to the times of a stage. The run and each time add noise.
TEST(Correction, VarianceOfASumCountsSharedErrorsOnce) {
  const Correction learnt = Learnt({{.settings = {1}, .log_error = 0.5}});
  const double run = learnt.run_deviation() * learnt.run_deviation();
  const double stage = learnt.stage_deviation() * learnt.stage_deviation();
  const TimeAt one = {{.stage = 3, .kind = 1}, {1}};
  const TimeAt other = {{.stage = 4, .kind = 1}, {1}};
  EXPECT_NEAR(learnt.Variance(std::vector<TimeAt>{one}, std::vector<double>{2}),
              4 * (0.09 + 0.25 + run + stage), 1e-9);
  EXPECT_NEAR(learnt.Variance(std::vector<TimeAt>{one, other}, std::vector<double>{1, 1}),
              4 * 0.09 + 2 * 0.25 + 4 * run + 2 * stage, 1e-9);
  EXPECT_EQ(learnt.Variance({}, {}), 0);
}

// A setting that doubles task times is not evidence about the driver's times, but a slow run is.
TEST(Correction, TimesOfDifferentKindsShareOnlyTheRun) {
  std::vector<ObservedError> seen = SeenAt({{0, 0}, {1, 0}, {2, 0}, {3, 0}});
  for (std::size_t run = 0; run < 4; ++run) {
    seen.push_back(
        {.time = {.stage = 9, .kind = 1}, .run = run, .settings = {static_cast<double>(run), 0}});
  }
  const Correction learnt = Learnt(seen);
  const std::vector<TimeAt> both = {{{.stage = 9, .kind = 1}, {3, 0}}, {{.stage = 0}, {3, 0}}};
  EXPECT_THAT(learnt.Predict(both), ElementsAre(DoubleNear(0, 0.05), DoubleNear(0.6, 0.05)));
  EXPECT_GT(Covariance(learnt, both[0], both[1]), 0);
}

// An important setting does not make settings of another group important.
TEST(Correction, LearnsTheImportanceOfEachGroupOfSettings) {
  const std::vector<ObservedError> seen = SeenAt({{0, 0}, {1, 1}, {2, 0}, {3, 1}, {4, 0}, {5, 1}});
  const auto apart = Correction::Learn(seen, std::vector<std::size_t>{0, 1}).value();
  const auto far = [](const Correction& learnt) { return VarianceAt(learnt, 0, {2.5, 4}); };
  EXPECT_LT(far(apart), far(Learnt(seen)));
  EXPECT_THAT(At(apart, 0, {2, 0.5}), DoubleNear(0.4, 0.03));
}

TEST(Correction, RejectsNumbersThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Correction::Learn({}).ok());
  EXPECT_FALSE(Correction::Learn(std::vector<ObservedError>{{.log_error = nan}}).ok());
  EXPECT_FALSE(Correction::Learn(std::vector<ObservedError>{{.settings = {nan}}}).ok());
  EXPECT_FALSE(Correction::Learn(std::vector<ObservedError>{{.deviation = -1}}).ok());
  EXPECT_FALSE(
      Correction::Learn(std::vector<ObservedError>{{.settings = {1}}, {.settings = {}}}).ok());
}

TEST(Correction, RejectsMoreGroupsThanSettings) {
  const std::vector<ObservedError> seen = SeenAt({{0, 0}, {1, 1}});
  for (const std::size_t group : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_FALSE(Correction::Learn(seen, std::vector<std::size_t>{0, group}).ok()) << group;
  }
}

TEST(Correction, UsesALimitedNumberOfErrors) {
  std::vector<ObservedError> seen(5000, {.settings = {1}, .log_error = 0.2});
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i].time.stage = i;
  EXPECT_THAT(At(Learnt(seen), 0, {1}), DoubleNear(0.2, 0.05));
}

// Every second error belongs to the other stage, which takes e^1 times the modelled time.
TEST(Correction, SamplesErrorsOfEachStage) {
  std::vector<ObservedError> seen;
  for (std::size_t run = 0; run < Correction::kErrorsMax; ++run) {
    seen.push_back({.time = {.stage = 0}, .run = run, .settings = {1}, .log_error = 0});
    seen.push_back({.time = {.stage = 1}, .run = run, .settings = {1}, .log_error = 1});
  }
  const Correction learnt = Learnt(seen);
  EXPECT_THAT(At(learnt, 0, {1}), DoubleNear(0, 0.05));
  EXPECT_THAT(At(learnt, 1, {1}), DoubleNear(1, 0.05));
}

}  // namespace
}  // namespace tidemark::phases::correction_test
