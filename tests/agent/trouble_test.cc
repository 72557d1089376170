#include "agent/trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace tidemark::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(3);

class TroubleTest : public ::testing::Test {
 protected:
  // What is told when the oldest event has waited so long.
  std::vector<std::string> ToldAfter(double seconds, const std::string& reason = "") {
    told_.clear();
    trouble_.TellNew(absl::Seconds(seconds), kPatience, reason);
    return told_;
  }

  std::vector<std::string> told_;
  Trouble trouble_{"host:1", [this](const std::string& text) { told_.push_back(text); }};
};

TEST_F(TroubleTest, TellsEachKindOfRefusalOnce) {
  trouble_.Refused(16, "the token is not known");
  trouble_.Refused(16, "the token is not known");
  trouble_.Refused(9, "the job is not open");
  EXPECT_THAT(ToldAfter(0),
              ElementsAre("the master at host:1 refuses what is reported: the token is not known",
                          "the master at host:1 refuses what is reported: the job is not open"));
  trouble_.Refused(16, "another token");
  EXPECT_THAT(ToldAfter(0), IsEmpty());
}

TEST_F(TroubleTest, ARefusalWithoutAReasonIsAWholeSentence) {
  trouble_.Refused(12, "");
  EXPECT_THAT(ToldAfter(0), ElementsAre("the master at host:1 refuses what is reported"));
}

TEST_F(TroubleTest, TellsOncePerOutageThatNobodyAnswers) {
  EXPECT_THAT(ToldAfter(2.9), IsEmpty());
  EXPECT_THAT(ToldAfter(3, "Connection refused"),
              ElementsAre("no answer from the master at host:1 for 3.0 s: Connection refused"));
  EXPECT_THAT(ToldAfter(60), IsEmpty());
  EXPECT_THAT(ToldAfter(0), IsEmpty());
  EXPECT_THAT(ToldAfter(4), ElementsAre("no answer from the master at host:1 for 4.0 s"));
}

TEST_F(TroubleTest, ASilenceThatWasExplainedIsNotToldAgain) {
  trouble_.Stalled("no space left");
  EXPECT_THAT(ToldAfter(1), ElementsAre("the master at host:1 cannot take what is reported at the "
                                        "moment: no space left"));
  EXPECT_THAT(ToldAfter(10), IsEmpty());
}

TEST_F(TroubleTest, WhatTheEngineThrowsEndsTheTelling) {
  int calls = 0;
  Trouble trouble("host:1", [&](const std::string&) {
    ++calls;
    throw std::runtime_error("the log is closed");
  });
  trouble.Refused(16, "one");
  trouble.TellNew(absl::ZeroDuration(), kPatience, "");
  trouble.Refused(9, "another");
  trouble.TellNew(absl::ZeroDuration(), kPatience, "");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tidemark::agent
