#include "master/forecast/durations/parameters.h"
#include "tests/test.h"

namespace tidemark::durations::white_box_test {
namespace {

// Returns runs over 1,000,000 words of 10 bytes that begin with none of the given letters. The
// letter a has 12 %, f and h have 4 % each, and n has 2 %.
std::vector<Parameters> Letters() {
  return {{{"letters", "a"}},   {{"letters", "f"}},   {{"letters", "h"}},     {{"letters", "a,f"}},
          {{"letters", "a,h"}}, {{"letters", "f,h"}}, {{"letters", "a,f,h"}}, {{"letters", ""}}};
}

std::vector<Cardinality> Filtered() {
  std::vector<Cardinality> runs;
  for (const double share : {0.88, 0.96, 0.96, 0.84, 0.84, 0.92, 0.80, 1.0}) {
    runs.push_back({1e6, 1e7, share * 1e6, share * 1e7});
  }
  return runs;
}

TEST(CardinalityModel, FindsTheConditionOfAFilter) {
  const auto model = CardinalityModel::Learn(Letters(), Filtered()).value();
  EXPECT_FALSE(model.conditions().empty());
  EXPECT_THAT(model.field_selections(), IsEmpty());
  // With twice the data, the forecast is 2,000,000 (1 - 0.12 - 0.04).
  const CardinalityForecast forecast = model.Predict({{"letters", "a,h"}}, 2e6, 10);
  EXPECT_NEAR(forecast.records.value, 1'680'000, 1000);
  EXPECT_NEAR(forecast.width.value, 10, 1e-6);
}

TEST(CardinalityModel, ALetterThatNoRunHadIsNamedAndWidens) {
  const auto model = CardinalityModel::Learn(Letters(), Filtered()).value();
  const regression::Forecast known = model.Predict({{"letters", "a"}}, 1e6, 10).records;
  const regression::Forecast unknown = model.Predict({{"letters", "q"}}, 1e6, 10).records;
  EXPECT_THAT(unknown.never_varied, ElementsAre("letters.q"));
  EXPECT_GT(unknown.deviation, 5 * known.deviation);
}

// Two more fields make a record 8 bytes wider. The number of records is the same.
TEST(CardinalityModel, FindsTheSelectionOfFields) {
  std::vector<Parameters> parameters;
  std::vector<Cardinality> runs;
  for (const int fields : {2, 4, 6, 8}) {
    parameters.push_back({{"fields", std::to_string(fields)}});
    runs.push_back({1e6, 1e8, 1e6, 1e6 * 4.0 * fields});
  }
  const auto model = CardinalityModel::Learn(parameters, runs).value();
  EXPECT_THAT(model.conditions(), IsEmpty());
  ASSERT_EQ(model.field_selections().size(), 1);
  EXPECT_NEAR(model.Predict({{"fields", "5"}}, 1e6, 100).width.value, 20, 1e-6);
}

TEST(CardinalityModel, RunsThatReadNothingSayNothing) {
  const std::vector<Parameters> parameters = {{{"k", "1"}}, {{"k", "2"}}};
  const std::vector<Cardinality> none = {{0, 0, 5, 50}, {0, 0, 7, 70}};
  EXPECT_EQ(CardinalityModel::Learn(parameters, none).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const std::vector<Cardinality> one = {{0, 0, 5, 50}, {10, 100, 5, 50}};
  EXPECT_DOUBLE_EQ(CardinalityModel::Learn(parameters, one)->Predict({}, 100, 10).records.value,
                   50);
}

TEST(CardinalityModel, WhereNothingCameOutNothingIsForetold) {
  const std::vector<Parameters> parameters = {{{"k", "1"}}};
  const std::vector<Cardinality> runs = {{10, 100, 0, 0}};
  const auto model = CardinalityModel::Learn(parameters, runs).value();
  EXPECT_DOUBLE_EQ(model.Predict({}, 100, 10).records.value, 0);
}

TEST(CardinalityModel, NeverForetellsLessThanNothing) {
  std::vector<Parameters> parameters;
  std::vector<Cardinality> runs;
  for (const int k : {1, 2, 3, 4}) {
    parameters.push_back({{"k", std::to_string(k)}});
    runs.push_back({100, 1000, 100.0 - 20 * k, 1000.0 - 200 * k});
  }
  const auto model = CardinalityModel::Learn(parameters, runs).value();
  EXPECT_DOUBLE_EQ(model.Predict({{"k", "10"}}, 100, 10).records.value, 0);
}

TEST(CardinalityModel, WrongInputIsAnError) {
  const std::vector<Parameters> parameters = {{{"k", "1"}}};
  EXPECT_FALSE(CardinalityModel::Learn({}, {}).ok());
  EXPECT_FALSE(CardinalityModel::Learn(parameters, {}).ok());
  EXPECT_FALSE(CardinalityModel::Learn(parameters, std::vector<Cardinality>{{-1, 0, 0, 0}}).ok());
}

// K-Means has jobs of two stages each. The number of clusters roughly determines the number of
// iterations.
TEST(RepetitionModel, CountsStagesByAParameterThatDrivesTheWorkflow) {
  std::vector<Parameters> parameters;
  std::vector<StageCounts> runs;
  for (const auto& [k, iterations] : std::vector<std::pair<int, std::uint32_t>>{
           {10, 11}, {20, 19}, {30, 31}, {40, 40}, {50, 49}}) {
    parameters.push_back({{"k", std::to_string(k)}, {"seed", std::to_string(k % 3)}});
    runs.push_back({{7, 8}, {8, iterations}, {9, iterations}});
  }
  const auto model = RepetitionModel::Learn(parameters, runs).value();
  const auto counts = model.Predict({{"k", "35"}, {"seed", "1"}});
  EXPECT_DOUBLE_EQ(counts.at(7).value, 8);
  EXPECT_NEAR(counts.at(8).value, 35, 1);
  EXPECT_EQ(counts.at(8).value, counts.at(9).value);
  EXPECT_THAT(model.Predict({{"k", "100"}, {"seed", "1"}}).at(8).beyond, ElementsAre("k"));
}

TEST(RepetitionModel, WorkThatARunLacksRanZeroTimesInIt) {
  const std::vector<Parameters> parameters = {
      {{"n", "0"}}, {{"n", "1"}}, {{"n", "2"}}, {{"n", "3"}}};
  const std::vector<StageCounts> runs = {
      {{1, 1}}, {{1, 1}, {2, 1}}, {{1, 1}, {2, 2}}, {{1, 1}, {2, 3}}};
  const auto model = RepetitionModel::Learn(parameters, runs).value();
  EXPECT_DOUBLE_EQ(model.Predict({{"n", "0"}}).at(2).value, 0);
  EXPECT_DOUBLE_EQ(model.Predict({{"n", "2"}}).at(2).value, 2);
}

}  // namespace
}  // namespace tidemark::durations::white_box_test
