#include <stdexcept>

#include "agent/shared.h"
#include "tests/test.h"

namespace tidemark::agent::problem_reporter_test {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(3);

class ProblemReporterTest : public ::testing::Test {
 protected:
  // Returns the reports after the oldest event has waited for `seconds`.
  std::vector<std::string> ReportsAfter(double seconds, const std::string& reason = "") {
    reports_.clear();
    problems_.ReportNew(absl::Seconds(seconds), kPatience, reason);
    return reports_;
  }

  std::vector<std::string> reports_;
  ProblemReporter problems_{"host:1",
                            [this](const std::string& text) { reports_.push_back(text); }};
};

TEST_F(ProblemReporterTest, ReportsEachKindOfRejectionOnce) {
  problems_.OnRejected(16, "the token is not known");
  problems_.OnRejected(16, "the token is not known");
  problems_.OnRejected(9, "the job is not open");
  EXPECT_THAT(ReportsAfter(0),
              ElementsAre("the master at host:1 rejects events: the token is not known",
                          "the master at host:1 rejects events: the job is not open"));
  problems_.OnRejected(16, "another token");
  EXPECT_THAT(ReportsAfter(0), IsEmpty());
}

TEST_F(ProblemReporterTest, ReportsARejectionWithoutAReason) {
  problems_.OnRejected(12, "");
  EXPECT_THAT(ReportsAfter(0), ElementsAre("the master at host:1 rejects events"));
}

TEST_F(ProblemReporterTest, ReportsEachOutageOnce) {
  EXPECT_THAT(ReportsAfter(2.9), IsEmpty());
  EXPECT_THAT(ReportsAfter(3, "Connection refused"),
              ElementsAre("no response from the master at host:1 for 3.0 s: Connection refused"));
  EXPECT_THAT(ReportsAfter(60), IsEmpty());
  EXPECT_THAT(ReportsAfter(0), IsEmpty());
  EXPECT_THAT(ReportsAfter(4), ElementsAre("no response from the master at host:1 for 4.0 s"));
}

TEST_F(ProblemReporterTest, DoesNotReportAnExplainedSilence) {
  problems_.OnStalled("no space left");
  EXPECT_THAT(ReportsAfter(1),
              ElementsAre("the master at host:1 cannot accept events now: no space left"));
  EXPECT_THAT(ReportsAfter(10), IsEmpty());
}

TEST_F(ProblemReporterTest, StopsAfterAnExceptionOfTheEngine) {
  int calls = 0;
  ProblemReporter trouble("host:1", [&](const std::string&) {
    ++calls;
    throw std::runtime_error("the log is closed");
  });
  trouble.OnRejected(16, "one");
  trouble.ReportNew(absl::ZeroDuration(), kPatience, "");
  trouble.OnRejected(9, "another");
  trouble.ReportNew(absl::ZeroDuration(), kPatience, "");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tidemark::agent::problem_reporter_test
