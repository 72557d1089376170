#include "bench/accuracy/cost_log.h"

#include "tests/bench/some_costs.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::bench::cost_log_test {
namespace {

class CostLogFile : public ::testing::Test {
 protected:
  const test::ScratchDirectory directory_;
  const std::string path_ = directory_ / "log.cost";
};

TEST_F(CostLogFile, ContainsTheWholeLog) {
  CostLog log = SomeCosts(5);
  log.partitions[7] = {0, 6, 1, 2, 3};
  log.curves[4] = {{0.5F, 10, 1, 0}, {1.0F, 50, 5, 99}};
  log.map_tasks[1].shares.erase(log.map_tasks[1].shares.begin());
  log.map_tasks.push_back({"silent", 3, {}});
  ASSERT_TRUE(SaveCostLog(log, path_).ok());
  const absl::StatusOr<CostLog> loaded = LoadCostLog(path_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(*loaded, log);
  EXPECT_EQ(*ReadCostLogIdentity(path_), "made up");
}

TEST_F(CostLogFile, ReportsNotFoundForAMissingFile) {
  EXPECT_TRUE(absl::IsNotFound(LoadCostLog(path_).status()));
}

TEST_F(CostLogFile, RejectsATruncatedFile) {
  ASSERT_TRUE(SaveCostLog(SomeCosts(5), path_).ok());
  std::string bytes;
  {
    std::ifstream file(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (const std::size_t size :
       {bytes.size() - 1, bytes.size() / 2, std::size_t{3}, std::size_t{0}}) {
    std::ofstream(path_, std::ios::binary) << bytes.substr(0, size);
    EXPECT_TRUE(absl::IsDataLoss(LoadCostLog(path_).status())) << size;
  }
}

}  // namespace
}  // namespace tidemark::bench::cost_log_test
