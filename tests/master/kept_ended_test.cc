#include "master/service/kept_ended.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::service {
namespace {

class KeptEndedTest : public ::testing::Test {
 protected:
  void Ended(const std::string& reporter, int count) {
    for (int i = 0; i < count; ++i) {
      ++number_;
      kept_.Enter(reporter);
      kept_.Add({reporter, number_, reporter + std::to_string(number_)});
    }
  }
  void Running(const std::string& reporter, int count) {
    for (int i = 0; i < count; ++i) kept_.Enter(reporter);
  }
  std::string ToForget(const std::string& reporter) const {
    const auto one = kept_.ToForget(reporter);
    return one ? one->id : "";
  }

  KeptEnded kept_;
  std::uint64_t number_ = 0;
};

TEST_F(KeptEndedTest, NothingEndedMakesNoRoom) {
  Running("a", 3);
  EXPECT_EQ(ToForget("a"), "");
  EXPECT_EQ(ToForget("b"), "");
}

TEST_F(KeptEndedTest, WhoIsAloneLosesItsOldest) {
  Ended("a", 3);
  EXPECT_EQ(ToForget("a"), "a1");
}

TEST_F(KeptEndedTest, RoomIsMadeAmongTheOwnOfWhoKeepsTheMost) {
  Ended("victim", 5);
  Ended("attacker", 6);
  EXPECT_EQ(ToForget("attacker"), "attacker6");
  EXPECT_EQ(ToForget("victim"), "attacker6");
  EXPECT_EQ(ToForget("new"), "attacker6");
}

TEST_F(KeptEndedTest, NobodyLosesToWhoKeepsAsManyOrMore) {
  Ended("victim", 5);
  Running("attacker", 5);
  EXPECT_EQ(ToForget("attacker"), "");
  EXPECT_EQ(ToForget("victim"), "victim1");
  Running("attacker", 5);
  EXPECT_EQ(ToForget("attacker"), "");
}

TEST_F(KeptEndedTest, WhatIsForgottenIsForgottenOnce) {
  Ended("a", 2);
  kept_.Remove("a", 1);
  kept_.Leave("a");
  EXPECT_EQ(ToForget("a"), "a2");
  kept_.Remove("a", 2);
  kept_.Leave("a");
  EXPECT_EQ(ToForget("a"), "");
}

}  // namespace
}  // namespace tidemark::service
