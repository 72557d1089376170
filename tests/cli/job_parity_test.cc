// As long as both exist: the renderer of all jobs says of a real job, from its first snapshot to
// its last, what that of 0.1 says.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/console/frame.h"
#include "cli/console/job_frame.h"
#include "cli/console/job_lines.h"
#include "cli/console/job_summary.h"
#include "cli/console/plain_lines.h"
#include "cli/console/summary.h"
#include "cli/console/workflow_frame.h"
#include "master/store/event_log.h"
#include "tests/cli/as_job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::next {
namespace {

class Parity : public testing::TestWithParam<const char*> {};

TEST_P(Parity, OfARecordedJob) {
  const auto reader = store::EventLogReader::Open(std::string(TIDEMARK_RECORDINGS) + GetParam());
  ASSERT_TRUE(reader.ok()) << reader.status();
  JobMonitor monitor((*reader)->job_id(), (*reader)->options());
  tidemark::console::PlainLines old_lines({}, true);
  console::PlainLines new_lines({}, true);
  int snapshots = 0;
  for (;;) {
    const auto record = (*reader)->Next();
    ASSERT_TRUE(record.ok()) << record.status();
    if (!record->has_value()) break;
    const auto old = store::Replay(**record, monitor);
    if (!old) continue;
    ++snapshots;
    const Snapshot job = test::AsJob(*old);
    for (const int width : {30, 60, 80, 120}) {
      for (const bool compare : {false, true}) {
        ASSERT_EQ(console::RenderFrame(job, {.width = width, .unicode = true, .compare = compare}),
                  tidemark::console::RenderFrame(
                      *old, {.width = width, .unicode = true, .compare = compare}))
            << "snapshot " << old->sequence;
      }
      ASSERT_EQ(console::RenderSummary(job, width, {}),
                tidemark::console::RenderSummary(*old, width, {}));
      ASSERT_EQ(console::RenderJobTable({job}, width, {})[1],
                tidemark::console::RenderJobTable({*old}, width, {})[1]);
    }
    ASSERT_EQ(new_lines.Next(job), old_lines.Next(*old)) << "snapshot " << old->sequence;
  }
  EXPECT_GT(snapshots, 20);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Parity,
                         testing::Values("/two-path-on-yarn.tidemark-log",
                                         "/two-path-sharing-processors.tidemark-log"),
                         [](const auto& tested) {
                           return std::string(tested.param).find("yarn") != std::string::npos
                                      ? "OnYarn"
                                      : "SharingProcessors";
                         });

// All but the bar of the whole, which is as wide as that of a job now.
TEST(WorkflowParity, OfRandomWorkflows) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
    const auto seconds = [&] { return absl::Seconds(static_cast<std::int64_t>(upto(5000))); };
    WorkflowSnapshot old = {.workflow_id = "w", .name = "visits", .sequence = 1};
    old.started_at = absl::FromUnixSeconds(1'700'000'000);
    old.elapsed = seconds();
    old.at = old.started_at + old.elapsed;
    old.state = static_cast<tidemark::JobState>(upto(4));
    old.fraction_done = static_cast<double>(upto(127)) / 128;
    old.remaining = old.remaining_lower = old.remaining_upper = seconds();
    *old.remaining_upper += seconds();
    for (std::uint64_t i = 1 + upto(5); i > 0; --i) {
      WorkflowJobProgress job = {.name = "job " + std::string(upto(30), 'x')};
      job.state = static_cast<WorkflowJobState>(upto(5));
      job.fraction_done = static_cast<double>(upto(127)) / 128;
      job.is_critical = upto(1) == 0;
      if (upto(1) == 0) job.starts_in = seconds();
      if (upto(1) == 0) job.ends_in = seconds();
      if (upto(1) == 0) {
        job.started_at = old.started_at;
        job.ended_at = old.started_at + seconds();
      }
      old.jobs.push_back(job);
    }
    old.notes.assign(upto(5), "job b could have started 2 min ago, and no job is attached to it");
    const Snapshot job = test::AsJob(old);
    for (const int width : {80, 120}) {
      const auto drawn = console::RenderFrame(job, {.width = width});
      const auto wanted = tidemark::console::RenderWorkflow(old, {.width = width});
      ASSERT_EQ(drawn[0], wanted[0]) << "seed " << seed;
      // What is left of the time may have a line of its own now, where it was clipped.
      ASSERT_GE(drawn.size(), wanted.size());
      const std::size_t more = drawn.size() - wanted.size();
      for (std::size_t i = 2; i < wanted.size(); ++i) {
        ASSERT_EQ(drawn[i + more], wanted[i]) << "seed " << seed;
      }
    }
    ASSERT_EQ(console::PlainLine(job, {}, false), tidemark::console::WorkflowPlainLine(old, {}));
    auto summary = console::RenderSummary(job, 120, {});
    if (!job.is_final) continue;
    std::erase_if(summary, [](const std::string& line) { return line.starts_with("job b could"); });
    ASSERT_EQ(summary, tidemark::console::RenderWorkflowSummary(old, {})) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tidemark::next
