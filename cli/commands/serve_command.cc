#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/descriptor_limit.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/spark/logs.h"
#include "cli/temporary_directory.h"
#include "serve/alerts/alerts.h"
#include "serve/library_log.h"
#include "serve/metrics_exporter.h"
#include "serve/serve_log.h"
#include "serve/watchdog.h"
#include "serve/web_listener.h"
#include "tidemark/master.h"

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
absl::Status MakeDataFolder(const ServeConfig& config, const LogSink& log) {
  const std::string& folder = config.master.data_dir;
  if (folder.empty()) return absl::OkStatus();
  const std::string name = config.Where("data_dir") + "data_dir";
  const absl::Status parent =
      CreateDirectory(name, std::filesystem::path(folder).parent_path().string());
  if (!parent.ok()) return parent;
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat facts {};
  const bool is_there = ::stat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
  if (is_there && (facts.st_mode & S_IRWXO) != 0) {
    log({.severity = LogSeverity::kWarning,
         .message = fmt::format("{}: {} is open to every user of this host; run chmod o= {}", name,
                                folder, folder)});
  }
  return CreateDirectory(name, folder);
}

int Refuse(const absl::Status& status) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) Complain(line);
  return absl::IsUnavailable(status) ? kJobFailed : kUsage;
}

}  // namespace

int Do(const ServeArguments& arguments) {
  auto config = LoadServeConfig(arguments.config_file, arguments.overrides);
  if (!config.ok()) return Refuse(config.status());
  const absl::Status checks[] = {
      Validate(config->master),
      TakeParentOfEnvironment(std::getenv(kParentVariable), config->lineage)};
  int refused = 0;
  for (const absl::Status& check : checks) {
    if (!check.ok()) refused = Refuse(check);
  }
  if (refused != 0) return refused;
  absl::Status status =
      CreateDirectory(config->Where("log_dir") + "log_dir", config->master.event_log_dir);
  const LogSink log = MakeLogSink(config->log_as_json, config->log_least);
  if (status.ok()) status = MakeDataFolder(*config, log);
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
  std::unique_ptr<Alerts> alerts;
  if (!config->alerts.hooks.empty() || !config->lineage.url.empty()) {
    auto created = Alerts::Create({.settings = config->alerts,
                                   .lineage = config->lineage,
                                   .jobs = [&] { return (*master)->ListJobs(); },
                                   .interval = config->master.tick_interval,
                                   .data_dir = config->master.data_dir,
                                   .zone = absl::LocalTimeZone(),
                                   .page_url = config->page_url,
                                   .log = log});
    if (!created.ok()) return Refuse(created.status());
    alerts = *std::move(created);
  }
  const auto alert_counts = [&] {
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
    (*master)->AnnouncePage(PublicWebUrl(*config, *page));
    say(fmt::format("page at {}", WebUrl(*config, *page)));
  }
  std::unique_ptr<SparkLogs> spark_logs;
  if (!config->spark_logs.empty()) {
    spark_logs = std::make_unique<SparkLogs>(config->spark_logs, **master, log);
  }
  // A master that could not start after all tells nobody anything.
  if (alerts != nullptr) alerts->Begin();
  auto watchdog = std::make_unique<Watchdog>(
      [&] { return MasterAnswers(config->master, (*master)->address()); });
  signals.Wait();
  watchdog.reset();
  spark_logs.reset();
  say("shutting down");
  (*master)->Drain();
  absl::SleepFor(config->shutdown_drain);
  page.reset();
  (*master)->Shutdown(config->shutdown_grace);
  return kSuccess;
}

}  // namespace tidemark::cli
