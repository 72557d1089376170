// Compares bars and texts with tests/vectors/shown_progress.json, which Python and the page share.
#include <google/protobuf/util/json_util.h>

#include "console/job_wording.h"
#include "proto/wire/job_codec.h"
#include "tests/test.h"
#include "tests/vectors/vectors.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::console::shown_progress_test {
namespace {

constexpr TextOptions kUnicode = {.unicode = true};

std::string BarText(const ShownProgress& shown, int columns, bool unicode) {
  const Bar bar = MakeBar(shown, columns, unicode);
  return bar.sure + bar.likely + bar.possible + bar.left;
}

TEST(ShownProgress, EqualsTheSharedVectors) {
  for (const auto& vector : vectors::Read("shown_progress.json")) {
    SCOPED_TRACE(vector.at("name").get<std::string>());
    v1::Snapshot message;
    ASSERT_TRUE(
        google::protobuf::util::JsonStringToMessage(vector.at("snapshot").dump(), &message).ok());
    const auto snapshot = wire::ParseSnapshot(message);
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    const ShownProgress shown = ShownOf(*snapshot, snapshot->estimate);
    const auto& numbers = vector.at("shown");
    EXPECT_NEAR(shown.lower, numbers[0].get<double>(), 1e-9);
    EXPECT_NEAR(shown.fraction, numbers[1].get<double>(), 1e-9);
    EXPECT_NEAR(shown.upper, numbers[2].get<double>(), 1e-9);
    EXPECT_EQ(PercentText(*snapshot, snapshot->estimate, kUnicode),
              vector.at("percent").get<std::string>());
    EXPECT_EQ(StateName(*snapshot), vector.at("state").get<std::string>());
    EXPECT_EQ(CurrentStep(*snapshot), vector.at("step").get<std::string>());
    EXPECT_EQ(WarningTexts(*snapshot, kUnicode),
              vector.at("warnings").get<std::vector<std::string>>());
    // The console adds the reason for the missing estimate, and the tasks that still run.
    EXPECT_THAT(DescribeRemaining(*snapshot, snapshot->estimate, kUnicode).text(),
                testing::StartsWith(vector.at("remaining").get<std::string>()));
    EXPECT_EQ(BarText(shown, 20, true), vector.at("bar").get<std::string>());
    EXPECT_EQ(BarText(shown, 22, false), vector.at("ascii_bar").get<std::string>());
  }
}

}  // namespace
}  // namespace tidemark::console::shown_progress_test
