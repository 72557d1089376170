#include "whatif/gray_box/black_box.h"

#include "tests/test.h"

namespace tidemark::gray_box::black_box_test {
namespace {

constexpr double kMb = 1 << 20;
constexpr double kGb = 1 << 30;

// Returns 1 s plus 50 ms per MB, plus a tenth of that for each further core, as for the 27 settings
// of [GB] 5.3.1.
double Truth(const TaskResources& task) {
  const double megabytes = task.partition_bytes / kMb;
  return 1 + 0.05 * megabytes + 0.005 * megabytes * task.executor_cores;
}

std::vector<TaskResources> Settings() {
  std::vector<TaskResources> settings;
  for (const double megabytes : {32, 64, 128}) {
    for (const double cores : {1, 2, 4}) {
      for (const double memory : {1, 2, 4}) {
        settings.push_back({megabytes * kMb, cores, memory * kGb});
      }
    }
  }
  return settings;
}

TEST(BlackBox, PredictsOtherPartitionsAndCores) {
  std::vector<double> seconds;
  for (const TaskResources& setting : Settings()) seconds.push_back(Truth(setting));
  const auto box = BlackBox::Learn(Settings(), seconds);
  ASSERT_TRUE(box.ok()) << box.status();
  const TaskResources other = {96 * kMb, 3, 2 * kGb};
  EXPECT_NEAR(box->Predict(other).value, Truth(other), 0.05 * Truth(other));
  EXPECT_FALSE(box->Predict({1024 * kMb, 3, 2 * kGb}).beyond.empty());
}

TEST(BlackBox, WrongInputIsAnError) {
  const std::vector<TaskResources> runs = {{1e6, 1, 1e9}};
  EXPECT_FALSE(BlackBox::Learn({}, {}).ok());
  EXPECT_FALSE(BlackBox::Learn(runs, std::vector<double>{-1}).ok());
  EXPECT_FALSE(BlackBox::Learn(runs, std::vector<double>{1, 2}).ok());
  EXPECT_FALSE(
      BlackBox::Learn(std::vector<TaskResources>{{1e6, 0, 1e9}}, std::vector<double>{1}).ok());
}

}  // namespace
}  // namespace tidemark::gray_box::black_box_test
