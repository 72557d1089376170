#include "cli/config/settings.h"

#include <algorithm>
#include <limits>

namespace tidemark::cli {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50;
constexpr absl::Duration kWeek = absl::Hours(24 * 7);

// What the service is.
void AddService(std::vector<Setting>& settings) {
  settings.push_back(TextSetting(
      "listen", "host:port, or unix:PATH",
      [](auto& c) -> auto& { return c.master.listen_address; }));
  settings.push_back(SwitchSetting(
      "allow_insecure_remote", [](auto& c) -> auto& { return c.master.allow_insecure_remote; }));
  settings.push_back(FileSetting(
      "data_dir", "a directory", [](auto& c) -> auto& { return c.master.data_dir; }));
  settings.push_back(FileSetting(
      "log_dir", "a directory", [](auto& c) -> auto& { return c.master.event_log_dir; }));
  settings.push_back(FileSetting(
      "spark_logs", "a directory", [](auto& c) -> auto& { return c.spark_logs; }));
}

// Who is let in.
void AddAccess(std::vector<Setting>& settings) {
  settings.push_back(FileSetting(
      "tls.certificate", "a PEM file",
      [](auto& c) -> auto& { return c.master.tls.certificate_file; }));
  settings.push_back(FileSetting(
      "tls.key", "a PEM file", [](auto& c) -> auto& { return c.master.tls.key_file; }));
  settings.push_back(FileSetting(
      "tls.client_ca", "a PEM file", [](auto& c) -> auto& { return c.master.tls.client_ca_file; }));
  settings.push_back(FileSetting(
      "tokens", "a file of tokens", [](auto& c) -> auto& { return c.master.tokens_file; }));
}

// What an operator sees.
void AddObservation(std::vector<Setting>& settings) {
  settings.push_back(TextSetting(
      "metrics.listen", "host:port", [](auto& c) -> auto& { return c.metrics_address; }));
  settings.push_back(ChoiceSetting<bool>(
      "log.format", {{"text", false}, {"json", true}},
      [](auto& c) -> auto& { return c.log_as_json; }));
  settings.push_back(ChoiceSetting<LogSeverity>(
      "log.level",
      {{"info", LogSeverity::kInfo},
       {"warning", LogSeverity::kWarning},
       {"error", LogSeverity::kError}},
      [](auto& c) -> auto& { return c.log_least; }));
}

// When snapshots are made and what agents are told.
void AddPace(std::vector<Setting>& settings) {
  settings.push_back(DurationSetting(
      "tick.interval", absl::Milliseconds(10), absl::Hours(1),
      [](auto& c) -> auto& { return c.master.tick_interval; }));
  settings.push_back(DurationSetting(
      "tick.interval_min", absl::Milliseconds(10), absl::Hours(1),
      [](auto& c) -> auto& { return c.master.tick_interval_min; }));
  settings.push_back(DurationSetting(
      "agents.flush_interval", absl::Milliseconds(50), absl::Minutes(1),
      [](auto& c) -> auto& { return c.master.agent_flush_interval; }));
}

void AddJournal(std::vector<Setting>& settings) {
  settings.push_back(DurationSetting(
      "journal.commit_interval", absl::ZeroDuration(), absl::Seconds(10),
      [](auto& c) -> auto& { return c.master.journal_commit_interval; }));
  settings.push_back(SwitchSetting(
      "journal.sync", [](auto& c) -> auto& { return c.master.journal_sync; }));
}

void AddHistory(std::vector<Setting>& settings) {
  settings.push_back(DurationSetting(
      "history.age", absl::Hours(1), absl::Hours(24 * 3650),
      [](auto& c) -> auto& { return c.master.history_age_max; }));
  settings.push_back(BytesSetting(
      "history.bytes", std::uint64_t{1} << 20, kBytesMax,
      [](auto& c) -> auto& { return c.master.history_bytes_max; }));
}

void AddEstimate(std::vector<Setting>& settings) {
  settings.push_back(ChoicesSetting(
      "estimate.indicators", KnownIndicators(),
      [](auto& c) -> auto& { return c.master.job.indicators; }));
  settings.push_back(CountSetting(
      "estimate.lambda", 1, 1'000'000, [](auto& c) -> auto& { return c.master.job.lambda; }));
  settings.push_back(DurationSetting(
      "estimate.abandon_after", absl::Seconds(1), kWeek,
      [](auto& c) -> auto& { return c.master.job.abandon_after; }));
}

// What one stranger may cost.
void AddLimits(std::vector<Setting>& settings) {
  settings.push_back(BytesSetting(
      "limits.message_bytes", 1024, std::uint64_t{1} << 30,
      [](auto& c) -> auto& { return c.master.message_bytes_max; }));
  settings.push_back(CountSetting(
      "limits.jobs", 1, 1'000'000, [](auto& c) -> auto& { return c.master.jobs_max; }));
  settings.push_back(CountSetting(
      "limits.workflows", 1, 1'000'000, [](auto& c) -> auto& { return c.master.workflows_max; }));
  settings.push_back(CountSetting(
      "limits.jobs_per_workflow", 1, 100'000,
      [](auto& c) -> auto& { return c.master.workflow_jobs_max; }));
  settings.push_back(CountSetting(
      "limits.watchers", 1, 1'000'000, [](auto& c) -> auto& { return c.master.watchers_max; }));
  settings.push_back(CountSetting(
      "limits.streams_per_peer", 1, 1'000'000,
      [](auto& c) -> auto& { return c.master.streams_per_peer_max; }));
  settings.push_back(BytesSetting(
      "limits.bytes_per_job", std::uint64_t{1} << 20, kBytesMax,
      [](auto& c) -> auto& { return c.master.job_bytes_max; }));
  settings.push_back(BytesSetting(
      "limits.state_bytes_per_job", std::uint64_t{1} << 20, kBytesMax,
      [](auto& c) -> auto& { return c.master.job.limits.state_bytes_max; }));
  settings.push_back(BytesSetting(
      "limits.state_bytes", 0, kBytesMax,
      [](auto& c) -> auto& { return c.master.state_bytes_max; }));
  settings.push_back(CountSetting(
      "limits.share_percent", 1, 100, [](auto& c) -> auto& { return c.master.share_percent; }));
  settings.push_back(CountSetting(
      "limits.calls_per_second", 0, 1'000'000,
      [](auto& c) -> auto& { return c.master.calls_per_second; }));
  settings.push_back(CountSetting(
      "limits.map_tasks", 1, 10'000'000,
      [](auto& c) -> auto& { return c.master.job.limits.map_tasks_max; }));
  settings.push_back(CountSetting(
      "limits.reduce_tasks", 1, 1'000'000,
      [](auto& c) -> auto& { return c.master.job.limits.reduce_tasks_max; }));
  settings.push_back(CountSetting(
      "limits.attempts_per_task", 1, 1000,
      [](auto& c) -> auto& { return c.master.job.limits.attempts_per_task_max; }));
  settings.push_back(CountSetting(
      "limits.sources_per_job", 1, 10'000'000,
      [](auto& c) -> auto& { return c.master.job.limits.sources_max; }));
  settings.push_back(CountSetting(
      "limits.stages_per_job", 1, 10'000'000,
      [](auto& c) -> auto& { return c.master.job.limits.stages_max; }));
}

void AddShutdown(std::vector<Setting>& settings) {
  settings.push_back(DurationSetting(
      "shutdown.drain", absl::ZeroDuration(), absl::Hours(1),
      [](auto& c) -> auto& { return c.shutdown_drain; }));
  settings.push_back(DurationSetting(
      "shutdown.grace", absl::ZeroDuration(), absl::Hours(1),
      [](auto& c) -> auto& { return c.shutdown_grace; }));
}

}  // namespace

const std::vector<Setting>& AllSettings() {
  static const auto* const kSettings = [] {
    auto* settings = new std::vector<Setting>;
    AddService(*settings);
    AddAccess(*settings);
    AddObservation(*settings);
    AddJournal(*settings);
    AddHistory(*settings);
    AddPace(*settings);
    AddEstimate(*settings);
    AddLimits(*settings);
    AddShutdown(*settings);
    return settings;
  }();
  return *kSettings;
}

const Setting* FindSetting(const std::string& key) {
  const auto& settings = AllSettings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace tidemark::cli
