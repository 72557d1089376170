// Tests that, for any snapshot, no line is wider than the terminal. The terminal receives only
// printable text and finite numbers.

#include <clocale>
#include <cwchar>

#include "console/job_frame.h"
#include "console/job_lines.h"
#include "console/job_summary.h"
#include "console/job_table.h"
#include "console/terminal.h"
#include "tests/console/some_jobs.h"
#include "tests/test.h"

namespace tidemark::console::job_frame_property_test {
namespace {

class HostileJobs {
 public:
  explicit HostileJobs(std::uint64_t seed) : random_(seed) {}

  Snapshot Next() {
    Snapshot snapshot{.job_id = Text(), .sequence = Upto(9)};
    snapshot.at = absl::UnixEpoch() + Duration();
    snapshot.state = static_cast<JobState>(Upto(6));
    snapshot.is_final = Upto(2) == 0;
    snapshot.message = Text();
    if (Upto(4) != 0)
      snapshot.info = JobInfo{.name = Text(), .kind = static_cast<JobKind>(Upto(3))};
    if (Upto(4) != 0) snapshot.started_at = absl::UnixEpoch() + Duration();
    if (Upto(2) == 0) snapshot.ended_at = absl::UnixEpoch() + Duration();
    if (Upto(2) == 0) snapshot.silent_since = absl::UnixEpoch() + Duration();
    snapshot.estimate = NextEstimate();
    snapshot.counts = {Count(), Count(), Count(), Count(), Count(), Count(), Count(), Count()};
    for (std::uint64_t i = Upto(14); i > 0; --i) {
      snapshot.stages.push_back(NextStage());
      snapshot.stage_infos.push_back(
          {.id = {Count(), Count()}, .name = Text(), .kind = static_cast<StageKind>(Upto(3))});
    }
    for (std::uint64_t i = Upto(1) * Upto(4); i > 0; --i) snapshot.children.push_back(NextChild());
    for (std::uint64_t i = Upto(4); i > 0; --i) {
      snapshot.indicators.push_back({.estimate = NextEstimate()});
    }
    if (Upto(1) == 1) {
      snapshot.named_tasks = {{.attempt = {Count(), Count(), Count(), Count()},
                               .host = Text(),
                               .remaining = NextRange(),
                               .heaviest_group_share = Number(),
                               .reason = Text()}};
    }
    if (Upto(1) == 1) {
      snapshot.coverage = Coverage{.lost_events = Count(),
                                   .dropped_events = ~std::uint64_t{0},
                                   .map_profiles = Number(),
                                   .silent_tasks = Count()};
    }
    for (std::uint64_t i = Upto(7); i > 0; --i) snapshot.notes.push_back(Text());
    for (std::uint64_t i = Upto(3); i > 0; --i) {
      snapshot.errors.push_back({Text(), Number(), Number(), Number(), Number(), Number()});
    }
    return snapshot;
  }

  std::uint64_t Upto(std::uint64_t most) { return random_() % (most + 1); }

 private:
  StageProgress NextStage() {
    StageProgress stage{.id = {Count(), Count()},
                        .state = static_cast<StageState>(Upto(5)),
                        .fraction_done = Number(),
                        .tasks = Count(),
                        .running_tasks = Count(),
                        .finished_tasks = Count(),
                        .failed_attempts = Count(),
                        .ends_in = NextRange(),
                        .is_critical = Upto(1) == 0,
                        .failure = Text()};
    if (Upto(1) == 0) stage.shuffle = ShuffleProgress{Number(), Count(), Count()};
    return stage;
  }

  Child NextChild() {
    Child child{.number = Count(),
                .name = Text(),
                .state = static_cast<ChildState>(Upto(7)),
                .estimate = NextEstimate(),
                .starts_in = NextRange(),
                .is_critical = Upto(1) == 0};
    if (Upto(1) == 0) child.started_at = absl::UnixEpoch() + Duration();
    if (Upto(1) == 0) child.ended_at = absl::UnixEpoch() + Duration();
    return child;
  }

  Estimate NextEstimate() {
    return {.state = static_cast<EstimateState>(Upto(4)),
            .fraction_done = Number(),
            .remaining = NextRange(),
            .indicator = Text()};
  }

  std::optional<Range> NextRange() {
    if (Upto(3) == 0) return std::nullopt;
    Range range{.median = Duration()};
    if (Upto(3) != 0) range.lower = Duration();
    if (Upto(3) != 0) range.upper = Duration();
    return range;
  }

  std::uint32_t Count() { return Upto(1) == 0 ? static_cast<std::uint32_t>(Upto(20)) : ~0U; }

  double Number() {
    const double special[] = {std::nan(""),
                              -1,
                              2,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              1,
                              0,
                              5e-324};
    if (Upto(1) == 0) return special[Upto(7)];
    return static_cast<double>(Upto(1000)) / 1000;
  }

  absl::Duration Duration() {
    const absl::Duration special[] = {absl::InfiniteDuration(), -absl::InfiniteDuration(),
                                      absl::ZeroDuration(), -absl::Seconds(3)};
    if (Upto(2) == 0) return special[Upto(3)];
    return absl::Milliseconds(
        static_cast<std::int64_t>(Upto(1) == 0 ? Upto(90'000) : Upto(1'000'000'000'000)));
  }

  std::string Text() {
    const char* const parts[] = {"two-path", " ",      "群組",   "\x1b[2J",  "\n",       "\xff",
                                 "e\u0301",  "🌊",      "\u202e", "\xc2\x9b", "\xe2\x82", "❤\ufe0f",
                                 "%s%n",     "\u00ad", "ก็",      "👩\u200d💻"};
    std::string text;
    for (std::uint64_t i = Upto(Upto(9) == 0 ? 300 : 6); i > 0; --i) text += parts[Upto(15)];
    return text;
  }

  std::mt19937_64 random_;
};

// Removes colour codes.
std::string WithoutColours(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else {
      text += line[i];
    }
  }
  return text;
}

// Returns the number of columns according to the C library. Returns a negative number for control
// characters and invalid UTF-8.
int ColumnsByTheCLibrary(const std::string& line) {
  std::mbstate_t state{};
  int columns = 0;
  for (std::size_t i = 0; i < line.size();) {
    wchar_t character = 0;
    const std::size_t bytes = std::mbrtowc(&character, line.data() + i, line.size() - i, &state);
    if (bytes == 0 || bytes > line.size()) return -1;
    const int width = wcwidth(character);
    if (width < 0) return -1;
    columns += width;
    i += bytes;
  }
  return columns;
}

void ExpectSane(const std::string& line) {
  const std::string text = WithoutColours(line);
  for (const char* bad : {"nan", "inf"}) ASSERT_THAT(text, testing::Not(testing::HasSubstr(bad)));
  ASSERT_THAT(text, testing::Not(testing::ContainsRegex("(^|[ ([~])-[0-9]")));
  for (std::size_t at = text.find(" %"); at != std::string::npos; at = text.find(" %", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    if (begin < at) {
      ASSERT_LE(std::stoull(text.substr(begin, at - begin)), 100U) << text;
    }
  }
}

class HostileJob : public testing::Test {
 protected:
  void SetUp() override {
    if (std::setlocale(LC_ALL, "C.UTF-8") == nullptr) GTEST_SKIP() << "no locale C.UTF-8";
  }
  void TearDown() override { std::setlocale(LC_ALL, "C"); }
};

constexpr std::uint64_t kSeeds = 1500;

TEST_F(HostileJob, NeverMakesALineWiderThanTheTerminal) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    HostileJobs snapshots(seed);
    const Snapshot snapshot = snapshots.Next();
    const int width = static_cast<int>(snapshots.Upto(130));
    const FrameOptions options{.width = width,
                               .color = snapshots.Upto(1) == 0,
                               .unicode = snapshots.Upto(2) != 0,
                               .compare = snapshots.Upto(1) == 0};
    for (const std::string& line : RenderFrame(snapshot, options)) {
      const int columns = ColumnsByTheCLibrary(WithoutColours(line));
      ASSERT_GE(columns, 0) << testing::PrintToString(line);
      ASSERT_LE(columns, width) << line;
      ASSERT_LE(tidemark::console::ColumnsWithoutColours(line), width) << line;
      ExpectSane(line);
    }
  }
}

TEST_F(HostileJob, NeverBreaksTablesAndPlainLines) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    HostileJobs snapshots(seed);
    const Snapshot snapshot = snapshots.Next();
    const int width = static_cast<int>(snapshots.Upto(130));
    const TextOptions options{.unicode = snapshots.Upto(2) != 0};
    std::vector<std::string> lines = RenderSummary(snapshot, width, options);
    const TableOptions table = {.width = width, .text = options, .is_wide = snapshots.Upto(2) != 0};
    const Outcome outcome = {.snapshot = snapshot};
    for (const auto& more :
         {RenderJobTable({snapshot, snapshots.Next()}, table), RenderStageTable(snapshot, table),
          RenderTaskTable(snapshot, table), RenderEstimate(outcome, table),
          RenderScenarios({{"1 slot", outcome}, {"2 slots", outcome}}, table)}) {
      lines.insert(lines.end(), more.begin(), more.end());
    }
    for (const std::string& line : lines) {
      ASSERT_LE(ColumnsByTheCLibrary(line), width) << line;
      ExpectSane(line);
    }
    ASSERT_GE(ColumnsByTheCLibrary(PlainLine(snapshot, options, true)), 0);
    ExpectSane(PlainLine(snapshot, options, true));
  }
}

}  // namespace
}  // namespace tidemark::console::job_frame_property_test
