#include "cli/page_of_job.h"

#include <gtest/gtest.h>

namespace tidemark::cli {
namespace {

std::string PageAt(const std::string& feature, const std::string& master = "127.0.0.1:7411",
                   const std::string& job_id = "job-1") {
  return PageOfJob({.features = {"other", feature}}, master, job_id);
}

TEST(PageOfJob, LeadsToTheJob) {
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/"), "http://127.0.0.1:7412/#/jobs/job-1");
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/", "127.0.0.1:7411", "a/b c?"),
            "http://127.0.0.1:7412/#/jobs/a%2Fb%20c%3F");
  EXPECT_EQ(PageAt("page=https://progress.example:443/", "progress.example:7411"),
            "https://progress.example:443/#/jobs/job-1");
}

TEST(PageOfJob, SaysNothingWhereThereIsNoPageForUs) {
  EXPECT_EQ(PageAt("deadlines"), "");
  EXPECT_EQ(PageAt("page="), "");
  EXPECT_EQ(PageAt("page=http://\x1b[2J/"), "");
  EXPECT_EQ(PageAt("page=http://127.0.0.1:7412/", "far.example:7411"), "")
      << "a loopback address there is another one here";
}

}  // namespace
}  // namespace tidemark::cli
