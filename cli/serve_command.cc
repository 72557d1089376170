#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "cli/alerts/alerts.h"
#include "cli/commands.h"
#include "cli/descriptor_limit.h"
#include "cli/exit_code.h"
#include "cli/library_log.h"
#include "cli/metrics_exporter.h"
#include "cli/progress.h"
#include "cli/serve_log.h"
#include "cli/spark_logs.h"
#include "cli/temporary_directory.h"
#include "cli/watchdog.h"
#include "cli/web_listener.h"
#include "tidemark/master.h"
#include "transport/local_address.h"

namespace tidemark::cli {
namespace {

// Signals that end the service. Blocked from before the first thread starts, so that no thread but
// the one that waits ever takes them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  void Wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
    // A second one ends the process at once.
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_;
};

// What agents report is not for every user of the host: a new folder is its owner's alone.
absl::Status MakeDataFolder(const std::string& folder, const LogSink& log) {
  if (folder.empty()) return absl::OkStatus();
  const absl::Status parent =
      CreateDirectory("--data-dir", std::filesystem::path(folder).parent_path().string());
  if (!parent.ok()) return parent;
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) == 0 && (facts.st_mode & S_IRWXO) != 0) {
    log({.severity = LogSeverity::kWarning,
         .message = fmt::format("data_dir: {} is open to every user of this host; run chmod o= {}",
                                folder, folder)});
  }
  return CreateDirectory("--data-dir", folder);
}

int Refuse(const absl::Status& status) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) Complain(line);
  return absl::IsUnavailable(status) ? kJobFailed : kUsage;
}

// The metrics show the ids of jobs to every reader.
absl::Status CheckMetricsAddress(const ServeConfig& config) {
  const bool is_safe = config.metrics_address.empty() || config.master.allow_insecure_remote ||
                       transport::IsLocalAddress(config.metrics_address);
  if (is_safe) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "metrics.listen {}: every host that reaches it can read the metrics; use a loopback "
      "address or pass --allow-insecure-remote",
      config.metrics_address));
}

}  // namespace

int Do(const ServeArguments& arguments) {
  auto config = LoadServeConfig(arguments.config_file, arguments.overrides);
  if (!config.ok()) return Refuse(config.status());
  absl::Status status = CheckMetricsAddress(*config);
  if (status.ok()) status = CheckWebAddress(*config);
  if (status.ok()) status = CheckAlertFiles(config->alerts, config->lineage);
  if (status.ok()) status = TakeParentOfEnvironment(std::getenv(kParentVariable), config->lineage);
  if (status.ok()) status = CreateDirectory("--log-dir", config->master.event_log_dir);
  const LogSink log = MakeLogSink(config->log_as_json, config->log_least);
  if (status.ok()) status = MakeDataFolder(config->master.data_dir, log);
  if (!status.ok()) return Refuse(status);
  RaiseDescriptorLimit();
  const EndSignals signals;
  config->master.log = log;
  LogLibraries(log);
  config->master.on_notice = [log](const std::string& line) {
    log({.severity = LogSeverity::kWarning, .message = line});
  };
  const auto master = Master::Start(config->master);
  if (!master.ok()) return Refuse(master.status());
  std::mutex alerts_mutex;  // guards the pointer
  std::unique_ptr<Alerts> alerts;
  const auto alert_counts = [&] {
    const std::lock_guard lock(alerts_mutex);
    return alerts == nullptr ? std::map<std::string, AlertCounts>() : alerts->counts();
  };
  std::unique_ptr<MetricsExporter> exporter;
  if (!config->metrics_address.empty()) {
    auto started = MetricsExporter::Start(config->metrics_address, **master, alert_counts);
    if (!started.ok()) return Refuse(started.status());
    exporter = *std::move(started);
  }
  std::unique_ptr<web::WebServer> page;
  if (!config->web_address.empty()) {
    auto started = StartWeb(*config, **master);
    if (!started.ok()) return Refuse(started.status());
    page = *std::move(started);
  }
  const auto say = [&](const std::string& message) {
    if (config->log_as_json) return log({.message = message});
    WriteLine(stderr, message);
  };
  say(fmt::format("listening on {}", (*master)->address()));
  if (page != nullptr) {
    (*master)->AnnouncePage(WebUrl(*config, *page));
    say(fmt::format("page at {}", WebUrl(*config, *page)));
  }
  std::unique_ptr<SparkLogs> spark_logs;
  if (!config->spark_logs.empty()) {
    spark_logs = std::make_unique<SparkLogs>(config->spark_logs, **master, log);
  }
  if (!config->alerts.hooks.empty() || !config->lineage.url.empty()) {
    auto started = Alerts::Start({.settings = config->alerts,
                                  .lineage = config->lineage,
                                  .jobs = [&] { return (*master)->ListJobs(); },
                                  .interval = config->master.tick_interval,
                                  .data_dir = config->master.data_dir,
                                  .zone = absl::LocalTimeZone(),
                                  .log = log});
    if (!started.ok()) return Refuse(started.status());
    const std::lock_guard lock(alerts_mutex);
    alerts = *std::move(started);
  }
  auto watchdog = std::make_unique<Watchdog>(
      [&] { return MasterAnswers(config->master, (*master)->address()); });
  signals.Wait();
  watchdog.reset();
  {
    std::unique_lock lock(alerts_mutex);
    const std::unique_ptr<Alerts> ending = std::move(alerts);
    lock.unlock();
  }
  spark_logs.reset();
  say("shutting down");
  (*master)->Drain();
  absl::SleepFor(config->shutdown_drain);
  page.reset();
  (*master)->Shutdown(config->shutdown_grace);
  return kSuccess;
}

}  // namespace tidemark::cli
