#include "master/forecast/durations/parameters.h"

#include "tests/test.h"

namespace tidemark::durations::parameters_test {
namespace {

TEST(Features, NumbersAreFeaturesAndListsAreTheirWords) {
  const std::vector<Parameters> runs = {{{"k", "10"}, {"letters", "a, f"}},
                                        {{"k", "20"}, {"letters", "a,h"}}};
  const Features features(runs);
  EXPECT_THAT(features.names(),
              ElementsAre("k", "letters.count", "letters.a", "letters.f", "letters.h"));
  EXPECT_THAT(features.ValuesOf({{"k", "5"}, {"letters", "f"}}), ElementsAre(5, 1, 0, 1, 0));
}

TEST(Features, WhatIsNotSaidIsAsInTheLastRun) {
  const std::vector<Parameters> runs = {{{"k", "10"}, {"mode", "fast"}},
                                        {{"k", "20"}, {"mode", "slow"}}};
  const Features features(runs);
  EXPECT_EQ(features.ValuesOf({}), features.ValuesOf(runs[1]));
}

TEST(Features, WhatNoRunHadIsNamed) {
  const std::vector<Parameters> runs = {{{"k", "10"}, {"mode", "fast"}}};
  const Features features(runs);
  EXPECT_THAT(features.Unknown({{"k", "99"}, {"mode", "fast"}}), IsEmpty());
  EXPECT_THAT(features.Unknown({{"k", "many"}, {"mode", "odd"}, {"seed", "1"}}),
              ElementsAre("k", "mode.odd", "seed"));
}

TEST(Features, WhatRunsWereToldIsNamedOnce) {
  const std::vector<Parameters> runs = {{{"mode", "fast,safe"}}, {{"k", "10"}, {"mode", "odd"}}};
  EXPECT_THAT(Features(runs).parameter_names(), ElementsAre("k", "mode"));
}

TEST(Features, NotANumberIsAWord) {
  const std::vector<Parameters> runs = {{{"k", "nan"}}, {{"k", "inf"}}};
  EXPECT_THAT(Features(runs).names(), ElementsAre("k.count", "k.inf", "k.nan"));
}

TEST(Features, WhatWasANumberInAllRunsIsNamedWhereItIsNone) {
  const std::vector<Parameters> runs = {{{"k", "10"}, {"mode", "1"}}, {{"k", "2"}, {"mode", "a"}}};
  const Features features(runs);
  EXPECT_THAT(features.NonNumeric({{"k", "1e6"}, {"mode", "nan"}, {"seed", "x"}}), IsEmpty());
  for (const char* value : {"many", "nan", "-inf", "1e999", "10,20", ""}) {
    EXPECT_THAT(features.NonNumeric({{"k", value}}), ElementsAre("k")) << value;
  }
}

TEST(Features, ManyWordsAreBounded) {
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "w" + std::to_string(i) + ",";
  const std::vector<Parameters> runs = {{{"list", words}}, {{"list", "w999"}}};
  const Features features(runs);
  EXPECT_EQ(features.names().size(), kWordsMax + 1);
  EXPECT_THAT(features.names(), testing::Contains("list.w999"));
}

TEST(Features, OfNoRunsAreNone) {
  EXPECT_THAT(Features({}).names(), IsEmpty());
  EXPECT_THAT(Features({}).Unknown({{"k", "1"}}), ElementsAre("k"));
}

}  // namespace
}  // namespace tidemark::durations::parameters_test
