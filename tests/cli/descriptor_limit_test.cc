#include "cli/descriptor_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace tidemark::cli {
namespace {

TEST(RaiseDescriptorLimit, ToWhatTheSystemAllows) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 100;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  RaiseDescriptorLimit();
  rlimit raised{};
  getrlimit(RLIMIT_NOFILE, &raised);
  EXPECT_EQ(raised.rlim_cur, limit.rlim_max);
}

}  // namespace
}  // namespace tidemark::cli
