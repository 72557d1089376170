#include "bench/service/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bench/service/master_process.h"
#include "master/service/job_table.h"
#include "proto/wire/encode_event.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kTasks = 100;  // per job, half of them map tasks; each reports every second
constexpr std::uint32_t kRestartMapTasks = kTasks / 2;

// One job in virtual time: its map tasks run and end, then its reduce tasks send profiles.
class Writer {
 public:
  Writer(service::JobTable& jobs, std::string job_id, std::uint64_t events, bool ends)
      : jobs_(jobs), job_id_(std::move(job_id)), events_left_(events), ends_(ends) {}

  void Write() {
    const std::uint64_t half = events_left_ / 2;
    Send(JobOpened{.stages = MapReduceStages(kRestartMapTasks, kTasks - kRestartMapTasks)});
    for (std::uint32_t i = 0; i < kRestartMapTasks; ++i)
      Change(kMapStage, i, AttemptState::kStarted);
    while (events_left_ > half) {
      NextSecond();
      for (std::uint32_t i = 0; i < kRestartMapTasks && events_left_ > half; ++i) {
        Send(TaskHeartbeat{.attempt = {kMapStage, i, 0}, .bytes_done = second_ * 1000});
      }
    }
    for (std::uint32_t i = 0; i < kRestartMapTasks; ++i) {
      MapProfile profile{.attempt = {kMapStage, i, 0}};
      for (std::uint32_t p = 0; p < kTasks - kRestartMapTasks; ++p) {
        profile.partitions.push_back({.partition = p, .total_bytes = 1'000'000});
        profile.partitions.back().implicit_bytes = 1'000'000;
        profile.partitions.back().implicit_key_count = 1000;
      }
      Send(profile);
      Change(kMapStage, i, AttemptState::kFinished);
    }
    for (std::uint32_t i = 0; i < kTasks - kRestartMapTasks; ++i) {
      Change(kReduceStage, i, AttemptState::kStarted);
      Change(kReduceStage, i, AttemptState::kShuffled);
    }
    while (events_left_ > 2) {
      NextSecond();
      for (std::uint32_t i = 0; i < kTasks - kRestartMapTasks && events_left_ > 2; ++i)
        SendProfile(i);
    }
    if (ends_) Send(JobClosed{JobOutcome::kSucceeded, "", std::nullopt});
    NextSecond();
  }

 private:
  absl::Time now() const { return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(second_); }

  void NextSecond() {
    ++second_;
    jobs_.TickDue(now());
  }
  void Change(std::uint32_t stage, std::uint32_t index, AttemptState state) {
    Send(AttemptChanged{.attempt = {stage, index, 0}, .state = state});
  }
  void SendProfile(std::uint32_t index) {
    ++profiles_;
    ReduceProfile profile{.attempt = {kReduceStage, index, 0}};
    profile.last_group_finished_at = now();
    profile.groups_done = profiles_ / kRestartMapTasks * 10;
    profile.bytes_done = profile.groups_done * 1000;
    profile.reduce_time = absl::Seconds(profiles_ / kRestartMapTasks);
    for (std::uint64_t p = 0; p < 5; ++p) {
      profile.points.push_back(
          {100 + (p * 37 + profiles_ * 11) % 5000, 2, absl::Milliseconds(200)});
    }
    Send(profile);
  }
  void Send(EventBody body) {
    Event event{.job_id = job_id_,
                .source_id = "source",
                .sequence = ++sequence_,
                .sent_at = now(),
                .arrived_at = now(),
                .body = std::move(body)};
    jobs_.Ingest(wire::EncodeEvent(event), now());
    if (events_left_ > 0) --events_left_;
  }

  service::JobTable& jobs_;
  const std::string job_id_;
  std::uint64_t events_left_;
  const bool ends_;
  std::uint64_t sequence_ = 0;
  std::uint64_t profiles_ = 0;
  std::uint64_t second_ = 0;
};

// Creates each job with a separate table, since only the files matter.
void WriteJournal(const RestartOptions& options) {
  for (std::uint32_t job = 0; job < options.jobs; ++job) {
    service::JobTableOptions table;
    table.data_dir = options.directory;
    table.disk = store::MakeFileDisk(/*sync=*/false);
    table.journal.commit_interval = absl::ZeroDuration();
    const bool ends = job >= options.running;
    // A restart does not read the intermediate estimates of an ended job.
    if (ends) table.job.indicators = {"hadoop"};
    service::JobTable jobs(table);
    Writer(jobs, fmt::format("job-{:05}", job), options.events / options.jobs, ends).Write();
  }
}

std::uint64_t BytesIn(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    bytes += entry.file_size();
  }
  return bytes;
}

}  // namespace

absl::StatusOr<RestartReport> MeasureRestart(const RestartOptions& options) {
  WriteJournal(options);
  RestartReport report{.events = options.events, .journal_bytes = BytesIn(options.directory)};
  std::vector<double> seconds;
  for (int i = 0; i < options.repetitions; ++i) {
    const absl::Time begin = absl::Now();
    const auto master = MasterProcess::Start(
        {options.tidemark, "serve", "--listen", "127.0.0.1:0", "--data-dir", options.directory},
        absl::Minutes(30));
    if (!master.ok()) return master.status();
    seconds.push_back(absl::ToDoubleSeconds(absl::Now() - begin));
  }
  std::sort(seconds.begin(), seconds.end());
  report.median_s = seconds[seconds.size() / 2];
  report.max_s = seconds.back();
  return report;
}

}  // namespace tidemark::bench
