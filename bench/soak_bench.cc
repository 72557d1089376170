// Simulates hours of a master in minutes. A job table with journal, checkpoints and history replays
// recorded jobs in virtual time, several at a time. Its memory must not grow once all structures
// are in use.
#include <fmt/format.h>
#include <google/protobuf/timestamp.pb.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/service/scratch.h"
#include "master/service/job_table.h"
#include "master/store/event_log.h"
#include "master/store/history.h"
#include "proto/wire/encode_event.h"

namespace tidemark::bench {
namespace {

struct Settings {
  std::vector<std::string> logs;
  double hours = 8;
  std::uint32_t jobs_at_once = 8;
  std::size_t jobs_max = 100;
  std::string json;
};

// The events of a recorded job, with their times.
struct Recording {
  std::string name;
  std::vector<std::pair<absl::Duration, Event>> events;  // by the time since the first event
  absl::Time began;
};

absl::StatusOr<Recording> ReadRecording(const std::string& path) {
  auto reader = store::EventLogReader::Open(path);
  if (!reader.ok()) return reader.status();
  Recording recording{.name = std::filesystem::path(path).stem(), .events = {}, .began = {}};
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) break;
    const Event* event = std::get_if<Event>(&**record);
    if (event == nullptr) continue;
    if (recording.events.empty()) recording.began = event->arrived_at;
    recording.events.emplace_back(event->arrived_at - recording.began, *event);
  }
  if (recording.events.empty()) return absl::InvalidArgumentError(path + ": holds no events");
  return recording;
}

// Shifts every time in an event by `delay`.
void Delay(absl::Duration delay, Event& event) {
  const auto later = [delay](std::optional<absl::Time>& at) {
    if (at) *at += delay;
  };
  event.sent_at += delay;
  if (auto* job = std::get_if<JobOpened>(&event.body)) later(job->submitted_at);
  if (auto* closed = std::get_if<JobClosed>(&event.body)) later(closed->at);
  if (auto* changed = std::get_if<AttemptChanged>(&event.body)) later(changed->at);
  if (auto* profile = std::get_if<ReduceProfile>(&event.body)) {
    later(profile->last_group_finished_at);
  }
}

// A recorded job that is replayed from the given time.
class Job {
 public:
  Job(const Recording& recording, std::uint64_t number, absl::Time begins)
      : recording_(&recording),
        id_(fmt::format("{}-{}", recording.name, number)),
        begins_(begins) {}

  // Applies the events that are due. Returns their number.
  std::size_t Say(absl::Time now, service::JobTable& jobs) {
    const std::size_t before = said_;
    for (; !is_over() && begins_ + recording_->events[said_].first <= now; ++said_) {
      Event event = recording_->events[said_].second;
      event.job_id = id_;
      Delay(begins_ - recording_->began, event);
      const service::IngestResult taken = jobs.Ingest(wire::EncodeEvent(event), now);
      refused_ += taken.status.ok() ? 0 : 1;
    }
    return said_ - before;
  }
  bool is_over() const { return said_ == recording_->events.size(); }
  std::size_t refused() const { return refused_; }

 private:
  const Recording* recording_;
  std::string id_;
  absl::Time begins_;
  std::size_t said_ = 0;
  std::size_t refused_ = 0;
};

// Returns the number of MiB in use on the heap.
double HeapMebibytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd) / (1 << 20);
}

struct Totals {
  std::uint64_t jobs = 0;
  std::uint64_t events = 0;
  std::uint64_t refused = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t finals = 0;
};

nlohmann::ordered_json Soak(const Settings& settings, const std::vector<Recording>& recordings,
                            const std::string& directory, store::History& history) {
  service::JobTableOptions options;
  options.data_dir = directory;
  options.disk = store::MakeFileDisk(/*sync=*/false);
  options.journal.commit_interval = absl::ZeroDuration();
  options.jobs_max = settings.jobs_max;
  std::uint64_t unkept = 0;
  options.on_end = [&](const store::FinishedJob& job) { unkept += history.Add(job).ok() ? 0 : 1; };
  options.past_runs = [&](const std::string& name, const store::Reported&) {
    std::vector<PastRun> runs;
    const auto jobs = history.SucceededOfName(name, JobMonitor::kPastRunsMax);
    for (std::size_t i = 0; jobs.ok() && i < jobs->size(); ++i) {
      if (const auto run = PastRunOf((*jobs)[i].final, (*jobs)[i].summary)) runs.push_back(*run);
    }
    return runs;
  };
  service::JobTable jobs(options);

  Totals totals;
  std::vector<Job> running;
  auto memory = nlohmann::ordered_json::array();
  const absl::Time first = absl::FromUnixSeconds(1'700'000'000);
  const absl::Time last = first + absl::Hours(settings.hours);
  absl::Time sampled_at = first;
  const absl::Time began = absl::Now();
  for (absl::Time now = first; now < last; now += options.pace.interval_min) {
    // A job starts every two seconds until enough jobs are running.
    const bool may_begin = (now - first) % absl::Seconds(2) == absl::ZeroDuration();
    if (may_begin && running.size() < settings.jobs_at_once) {
      running.emplace_back(recordings[totals.jobs % recordings.size()], totals.jobs, now);
      ++totals.jobs;
    }
    for (Job& job : running) totals.events += job.Say(now, jobs);
    std::erase_if(running, [&](const Job& job) {
      totals.refused += job.is_over() ? job.refused() : 0;
      return job.is_over();
    });
    for (const service::PublishedJob& job : jobs.TickDue(now)) {
      ++totals.snapshots;
      totals.finals += job.newest->is_final ? 1 : 0;
    }
    if (now - sampled_at < absl::Minutes(30)) continue;
    sampled_at = now;
    memory.push_back({{"hour", absl::ToDoubleHours(now - first)}, {"heap_mib", HeapMebibytes()}});
    fmt::print(stderr, "{:.1f} h: {} jobs, heap {:.1f} MiB\n", absl::ToDoubleHours(now - first),
               totals.jobs, HeapMebibytes());
  }
  return {{"hours", settings.hours},
          {"wall_s", absl::ToDoubleSeconds(absl::Now() - began)},
          {"jobs", totals.jobs},
          {"ended", totals.finals},
          {"envelopes", totals.events},
          {"refused", totals.refused},
          {"snapshots", totals.snapshots},
          {"not_kept_in_history", unkept},
          {"memory", memory}};
}

int Fail(const absl::Status& status) {
  fmt::print(stderr, "soak: {}\n", status.ToString());
  return 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Replays recorded jobs to a master repeatedly and measures its memory.");
  app.option_defaults()->always_capture_default();
  Settings settings;
  app.add_option("--log", settings.logs, "Event logs of the jobs [logs of the tests]");
  app.add_option("--hours", settings.hours, "Hours of virtual time");
  app.add_option("--jobs-at-once", settings.jobs_at_once, "Number of concurrent jobs");
  app.add_option("--jobs-max", settings.jobs_max, "Number of jobs that the master keeps");
  app.add_option("--json", settings.json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (settings.logs.empty()) settings.logs = {TIDEMARK_RECORDINGS "/two-path-on-yarn.tidemark-log"};
  std::vector<Recording> recordings;
  for (const std::string& log : settings.logs) {
    absl::StatusOr<Recording> recording = ReadRecording(log);
    if (!recording.ok()) return Fail(recording.status());
    recordings.push_back(*std::move(recording));
  }
  const ScratchDirectory directory;
  auto history = store::History::Open(directory.path() + "/history.sqlite", {});
  if (!history.ok()) return Fail(history.status());
  nlohmann::ordered_json report = Soak(settings, recordings, directory.path(), **history);
  // After half of the time, all structures are in use.
  const nlohmann::ordered_json& memory = report["memory"];
  if (memory.empty()) return WriteJson(report, settings.json) ? 0 : 1;
  const double half_way = memory[memory.size() / 2]["heap_mib"];
  const double end = memory.back()["heap_mib"];
  report["heap_growth_second_half"] = end / half_way - 1;
  return WriteJson(report, settings.json) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
