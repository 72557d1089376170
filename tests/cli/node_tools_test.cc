#include "cli/process.h"
#include "tests/test.h"

namespace tidemark::cli::node_tools_test {
namespace {

TEST(NodeTools, ParsesFio) {
  const auto speeds = ParseFio(
      "fio: some note\n"
      R"({"fio version": "fio-3.33", "jobs": [{"read": {"bw_bytes": 0}, "write": {"bw_bytes": 215012345}}]})");
  ASSERT_TRUE(speeds.ok()) << speeds.status();
  EXPECT_EQ(speeds->write, 215012345);
  EXPECT_EQ(speeds->read, 0);
}

TEST(NodeTools, ParsesIperf) {
  const auto speed = ParseIperf(R"({"end": {"sum_received": {"bits_per_second": 8e9}}})");
  ASSERT_TRUE(speed.ok()) << speed.status();
  EXPECT_EQ(*speed, 1e9);
}

TEST(NodeTools, ReportsAnErrorOfIperf) {
  EXPECT_THAT(ParseIperf(R"({"error": "unable to connect"})").status().ToString(),
              HasSubstr("iperf3: unable to connect"));
}

TEST(NodeTools, RejectsOtherText) {
  for (const char* text : {"", "{", "[]", "null", "{\"jobs\": []}", "{\"jobs\": [{\"read\": 3}]}",
                           "{\"end\": {\"sum_received\": {\"bits_per_second\": \"fast\"}}}"}) {
    EXPECT_FALSE(ParseFio(text).ok()) << text;
    EXPECT_FALSE(ParseIperf(text).ok()) << text;
  }
}

TEST(NodeTools, BypassesThePageCache) {
  EXPECT_THAT(FioCommand(DiskAccess::kRead, "/d/f", 1 << 20, "/r"), Contains("--direct=1"));
  EXPECT_THAT(FioCommand(DiskAccess::kWrite, "/d/f", 1 << 20, "/r"), Contains("--end_fsync=1"));
}

}  // namespace
}  // namespace tidemark::cli::node_tools_test
