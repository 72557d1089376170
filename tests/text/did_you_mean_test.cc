#include "text/did_you_mean.h"

namespace tidemark::text::did_you_mean_test {
namespace {

const std::vector<std::string> kFields = {"task", "tasks", "task_seconds", "first_task_seconds"};

TEST(DidYouMean, SuggestsTheNearestName) {
  EXPECT_EQ(DidYouMean("task_secs", kFields), "; did you mean task_seconds?");
  EXPECT_EQ(DidYouMean("taks_seconds", kFields), "; did you mean task_seconds?");
  EXPECT_EQ(DidYouMean("first_task_second", kFields), "; did you mean first_task_seconds?");
}

TEST(DidYouMean, CountsSwappedLettersAsOneEdit) {
  EXPECT_EQ(NearestName("rnu", {"jobs", "run", "rpm"}), "run");
}

TEST(DidYouMean, IsEmptyIfNoNameIsNear) {
  EXPECT_EQ(DidYouMean("colour", kFields), "");
  EXPECT_EQ(DidYouMean("x", {"run"}), "");
  EXPECT_EQ(DidYouMean("", kFields), "");
  EXPECT_EQ(DidYouMean("task", {}), "");
}

TEST(DidYouMean, IgnoresLongWords) {
  EXPECT_EQ(DidYouMean(std::string(100'000, 'x'), {std::string(100'001, 'x')}), "");
}

TEST(DidYouMean, ListsKnownNamesIfNoneIsNear) {
  EXPECT_EQ(DidYouMeanOrKnown("rnu", {"run", "jobs"}), "; did you mean run?");
  EXPECT_EQ(DidYouMeanOrKnown("serve", {"run", "jobs"}), "; known: run, jobs");
  EXPECT_EQ(DidYouMeanOrKnown("serve", {}), "; known: none");
}

TEST(FewNames, AreAtMostTen) {
  EXPECT_EQ(FewNames({}), "");
  EXPECT_EQ(FewNames({"a", "b"}), "a, b");
  EXPECT_EQ(FewNames({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
  EXPECT_EQ(FewNames({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"}),
            "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...");
}

TEST(DidYouMean, PrefersTheFirstOfEquals) { EXPECT_EQ(NearestName("pun", {"run", "fun"}), "run"); }

}  // namespace
}  // namespace tidemark::text::did_you_mean_test
