#include "master/cost/remaining_groups.h"

#include <gtest/gtest.h>

#include "master/cost/sampled_groups.h"
#include "master/model/fold.h"
#include "tests/master/events.h"

namespace tidemark::cost {
namespace {

using test::Key;
using test::M;

// One reduce task; four map tasks, of which two send a profile.
class RemainingGroupsTest : public testing::Test {
 protected:
  RemainingGroupsTest() {
    Fold(test::Opened(4, 1));
    for (std::uint32_t i = 0; i < 4; ++i) Fold(test::Started(M(i)));
  }
  void Fold(EventBody body) {
    EXPECT_TRUE(model::Apply(source_.At(1, std::move(body)), {}, state_).ok());
  }
  void End(std::uint32_t map_task, const std::vector<ExplicitKey>& keys) {
    std::uint64_t bytes = 0;
    for (const ExplicitKey& key : keys) bytes += key.size_bytes;
    Fold(test::Emitted(M(map_task), {test::Partition(0, bytes, keys)}));
    Fold(test::Finished(M(map_task)));
  }
  const TaskLoad& Load() {
    SampledGroups sampled;
    sampled.Update(state_);
    groups_.Update(state_, CostFeature::kBytes, sampled);
    return groups_.task(0);
  }

  model::JobRecord state_{10};
  test::Source source_{"app-master"};
  RemainingGroups groups_;
};

TEST_F(RemainingGroupsTest, CountsEachKeyOnceWhereEveryProfileIsThere) {
  for (std::uint32_t i = 0; i < 4; ++i) End(i, {Key(1, 100), Key(10 + i, 100)});
  EXPECT_DOUBLE_EQ(Load().explicit_count, 5);
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 800);
}

// Twice the profiles, twice the bytes: the key that both map tasks named is twice as large, and of
// keys that one of them named there are twice as many.
TEST_F(RemainingGroupsTest, AKeyOfOneMapTaskIsNotLargerForLostProfiles) {
  End(0, {Key(1, 100), Key(2, 50)});
  End(1, {Key(1, 100)});
  Fold(test::Finished(M(2)));
  Fold(test::Finished(M(3)));
  EXPECT_DOUBLE_EQ(Load().explicit_count, 1 + 2);
  EXPECT_DOUBLE_EQ(Load().explicit_bytes, 400 + 2 * 50);
}

}  // namespace
}  // namespace tidemark::cost
