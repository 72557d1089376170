#include "web/percent_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::web {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PercentDecoding, DecodesPartsBehindTheSplit) {
  EXPECT_THAT(*PathParts("/api/jobs/a%2Fb"), ElementsAre("api", "jobs", "a/b"));
  EXPECT_THAT(*PathParts("/api/jobs/%E2%89%88"), ElementsAre("api", "jobs", "≈"));
  EXPECT_THAT(*PathParts("/"), IsEmpty());
  EXPECT_THAT(*PathParts("/api/"), ElementsAre("api"));
}

TEST(PercentDecoding, RefusesWhatIsNoText) {
  for (const char* bad : {"%", "%1", "%zz", "%+1", "%00", "%0a", "%7f", "%ff", "%c3"}) {
    EXPECT_FALSE(PercentDecoded(bad).has_value()) << bad;
  }
  EXPECT_FALSE(PathParts("").has_value());
  EXPECT_FALSE(PathParts("api").has_value());
  EXPECT_FALSE(PathParts("//etc/passwd").has_value());
}

}  // namespace
}  // namespace tidemark::web
