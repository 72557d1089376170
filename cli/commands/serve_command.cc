#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/hadoop/history_folder.h"
#include "cli/master_call.h"
#include "cli/options.h"
#include "cli/process.h"
#include "cli/progress.h"
#include "master/store/history.h"
#include "serve/alerts/alerts.h"
#include "serve/config/settings.h"
#include "serve/doctor.h"
#include "serve/metrics.h"
#include "serve/page.h"
#include "serve/serve_log.h"
#include "spark/log_reader.h"
#include "text/counted.h"
#include "tidemark/log.h"
#include "tidemark/master.h"
#include "transport/turn_queue.h"

namespace tidemark::cli {

namespace {

constexpr absl::Duration kSparkPollInterval = absl::Seconds(1);
// The history server publishes the files of ended jobs every three minutes.
constexpr absl::Duration kHistoryPollInterval = absl::Minutes(1);
// Maximum number of applications with logged rejections. Bounds memory.
constexpr std::size_t kRejectionsMax = 10'000;

std::function<void(const std::string&)> WarningsTo(const LogSink& log) {
  return
      [log](const std::string& line) { log({.severity = LogSeverity::kWarning, .message = line}); };
}

class SparkLogs {
 public:
  // `master` must outlive this object.
  SparkLogs(const std::string& folder, Master& master, const LogSink& log)
      : master_(master),
        log_(log),
        follower_(folder, {.source_id = fmt::format("log-{}", absl::GetCurrentTimeNanos()),
                           .note = WarningsTo(log)}),
        thread_([this](const std::stop_token& stop) {
          do {
            follower_.Poll(absl::Now(), [this](const Event& e) { Report(e); });
          } while (!transport::AwaitStop(stop, kSparkPollInterval));
        }) {}
  ~SparkLogs() { follower_.Stop(); }
  SparkLogs(const SparkLogs&) = delete;
  SparkLogs& operator=(const SparkLogs&) = delete;

 private:
  void Report(const Event& event);

  Master& master_;
  const LogSink log_;
  spark::LogFollower follower_;
  // Status codes of logged rejections by job.
  absl::flat_hash_map<std::string, absl::flat_hash_set<absl::StatusCode>> rejections_;
  std::jthread thread_;  // stops before the other members are destroyed
};

// Adds the runs of a Hadoop history server to the history of a master.
class HistoryLogs {
 public:
  // Fails like store::History::Open(). REQUIRES: the configuration has history_logs and data_dir.
  static absl::StatusOr<std::unique_ptr<HistoryLogs>> Start(const serve::ServeConfig& config,
                                                            const LogSink& log) {
    const MasterOptions& master = config.master;
    auto history = store::History::Open(
        master.data_dir + "/history.sqlite",
        {.age_max = master.history_age_max, .bytes_max = master.history_bytes_max});
    if (!history.ok()) return history.status();
    return std::unique_ptr<HistoryLogs>(
        new HistoryLogs(config.history_logs, *std::move(history), master.history_age_max, log));
  }
  ~HistoryLogs() { folder_.Stop(); }
  HistoryLogs(const HistoryLogs&) = delete;
  HistoryLogs& operator=(const HistoryLogs&) = delete;

 private:
  HistoryLogs(const std::string& folder, std::unique_ptr<store::History> history,
              absl::Duration age_max, const LogSink& log)
      : history_(std::move(history)),
        folder_(folder, *history_, {.age_max = age_max, .note = WarningsTo(log)}),
        thread_([this, log](const std::stop_token& stop) {
          // Reading must not delay acknowledgements and ticks.
          setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), transport::kNice);
          do {
            Poll(log);
          } while (!transport::AwaitStop(stop, kHistoryPollInterval));
        }) {}
  void Poll(const LogSink& log) {
    const std::size_t added = folder_.Poll(absl::Now());
    if (added == 0) return;
    log({.message = fmt::format("{} added to the history", text::Counted(added, "past run"))});
  }

  const std::unique_ptr<store::History> history_;
  HistoryFolder folder_;
  std::jthread thread_;  // stops before the other members are destroyed
};

void SparkLogs::Report(const Event& event) {
  const absl::Status reported = master_.Report(event);
  if (reported.ok() ||
      (rejections_.size() >= kRejectionsMax && !rejections_.contains(event.job_id)))
    return;
  if (!rejections_[event.job_id].insert(reported.code()).second) return;
  log_({.severity = LogSeverity::kWarning,
        .message = fmt::format("log of {}: {}", event.job_id, std::string(reported.message()))});
}

// Waits for the signals that end the service. They are blocked before the first thread starts, so
// that only Wait() receives them.
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
    // A second signal ends the process immediately.
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_;
};

// Sends SIGTERM to this process once standard input is closed, at the latest when the program that
// holds its other end has died. Before this call, that is not noticed. REQUIRES: the signals are
// blocked.
void EndWithStdin() {
  std::thread([] {
    char bytes[256];
    ssize_t count = 1;
    while (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) {
      // A program may have made the descriptor non-blocking.
      pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      ::poll(&input, 1, -1);
      count = ::read(STDIN_FILENO, bytes, sizeof bytes);
      // Limits the cost of a descriptor that always has input.
      if (count > 0) absl::SleepFor(absl::Milliseconds(100));
    }
    ::kill(::getpid(), SIGTERM);
  }).detach();
}

// Creates the data directory. Only its owner may read a new directory, since reports are
// confidential.
absl::Status MakeDataFolder(const serve::ServeConfig& config, const LogSink& log) {
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

int Reject(const absl::Status& status) {
  std::istringstream lines{std::string(status.message())};
  for (std::string line; std::getline(lines, line);) PrintError(line);
  return absl::IsUnavailable(status) ? kJobFailed : kUsage;
}

void AddOverride(CLI::App& app, const char* name, const char* key, const char* type,
                 const char* help, ServeArguments& arguments) {
  app.add_option_function<std::string>(
         name,
         [&arguments, name, key](const std::string& word) {
           arguments.overrides.push_back({.origin = name, .key = key, .words = {word}});
         },
         help)
      ->type_name(type);
}

serve::SettingOverride ParseOverride(const std::string& word) {
  const auto [key, value] = ParseAssignment("--set", word);
  serve::SettingOverride given{.origin = "--set", .key = key};
  const serve::Setting* setting = serve::FindSetting(key);
  if (setting == nullptr || !setting->is_list) {
    given.words = {value};
    return given;
  }
  std::istringstream words(value);
  for (std::string item; std::getline(words, item, ',');) given.words.push_back(item);
  return given;
}

int Run(const ServeArguments& arguments) {
  auto config = serve::LoadServeConfig(arguments.config_file, arguments.overrides);
  if (!config.ok()) return Reject(config.status());
  const absl::Status checks[] = {
      Validate(config->master),
      serve::SetParentFromEnvironment(std::getenv(serve::kParentVariable), config->lineage)};
  int exit_code = 0;
  for (const absl::Status& check : checks) {
    if (!check.ok()) exit_code = Reject(check);
  }
  if (exit_code != 0) return exit_code;
  // If standard input is closed, a library may have opened an event descriptor under its number,
  // which has no file type.
  struct stat input = {};
  if (arguments.ends_with_stdin &&
      (::fstat(STDIN_FILENO, &input) != 0 || (input.st_mode & S_IFMT) == 0)) {
    return Reject(absl::InvalidArgumentError(
        "--end-with-stdin: standard input is closed; pass the read end of a pipe"));
  }
  if (!config->history_logs.empty() && config->master.data_dir.empty()) {
    return Reject(absl::InvalidArgumentError(
        fmt::format("{}history_logs requires data_dir, where the master stores past runs",
                    config->Where("history_logs"))));
  }
  absl::Status status =
      CreateDirectory(config->Where("log_dir") + "log_dir", config->master.event_log_dir);
  const LogSink log = serve::MakeLogSink(config->log_as_json, config->log_least);
  if (status.ok()) status = MakeDataFolder(*config, log);
  if (!status.ok()) return Reject(status);
  RaiseDescriptorLimit();
  const EndSignals signals;
  config->master.log = log;
  serve::LogLibraries(log);
  config->master.on_notice = WarningsTo(log);
  const auto master = Master::Start(config->master);
  if (!master.ok()) return Reject(master.status());
  std::unique_ptr<serve::Alerts> alerts;
  if (!config->alerts.hooks.empty() || !config->lineage.url.empty()) {
    auto created = serve::Alerts::Create({.settings = config->alerts,
                                          .lineage = config->lineage,
                                          .jobs = [&] { return (*master)->ListJobs(); },
                                          .interval = config->master.tick_interval,
                                          .data_dir = config->master.data_dir,
                                          .zone = absl::LocalTimeZone(),
                                          .page_url = config->page_url,
                                          .log = log});
    if (!created.ok()) return Reject(created.status());
    alerts = *std::move(created);
  }
  const auto alert_counts = [&] {
    return alerts == nullptr ? std::map<std::string, serve::AlertCounts>() : alerts->counts();
  };
  std::unique_ptr<web::HttpServer> exporter;
  if (!config->metrics_address.empty()) {
    auto started = serve::StartMetrics(config->metrics_address, **master, alert_counts);
    if (!started.ok()) return Reject(started.status());
    exporter = *std::move(started);
  }
  std::unique_ptr<web::WebServer> page;
  if (!config->web_address.empty()) {
    auto started = serve::StartWeb(*config, **master);
    if (!started.ok()) return Reject(started.status());
    page = *std::move(started);
  }
  // Programs that start a master read these entries, so they are written at any log level.
  const LogSink always = serve::MakeLogSink(config->log_as_json, LogSeverity::kInfo);
  const auto log_line = [&](const std::string& message) { always({.message = message}); };
  log_line(fmt::format("listening on {}", (*master)->address()));
  if (page != nullptr) {
    const std::string url = serve::PublicWebUrl(*config, *page);
    if (web::WebServer::HasPage()) {
      (*master)->AnnouncePage(url);
      log_line("page at " + url);
    } else {
      log_line(fmt::format("API at {}; this program was built without its page", url));
    }
  }
  std::unique_ptr<HistoryLogs> history_logs;
  if (!config->history_logs.empty()) {
    auto started = HistoryLogs::Start(*config, log);
    if (!started.ok()) return Reject(started.status());
    history_logs = *std::move(started);
  }
  std::unique_ptr<SparkLogs> spark_logs;
  if (!config->spark_logs.empty()) {
    spark_logs = std::make_unique<SparkLogs>(config->spark_logs, **master, log);
  }
  // Alerts start last, so that a master that fails to start sends none.
  if (alerts != nullptr) alerts->Begin();
  auto watchdog = std::make_unique<serve::Watchdog>(
      [&] { return serve::MasterAnswers(config->master, (*master)->address()); });
  if (arguments.ends_with_stdin) EndWithStdin();
  signals.Wait();
  watchdog.reset();
  spark_logs.reset();
  history_logs.reset();
  log_line("shutting down");
  (*master)->Drain();
  absl::SleepFor(config->shutdown_drain);
  page.reset();
  (*master)->Shutdown(config->shutdown_grace);
  return kSuccess;
}

}  // namespace

void AddServeOptions(CLI::App& app, ServeArguments& arguments) {
  app.add_option("--config", arguments.config_file, "Settings file (YAML); options override it")
      ->type_name("FILE");
  AddOverride(app, "--listen", "listen", "HOST:PORT",
              "Address to listen on; also unix:PATH (setting listen) [127.0.0.1:7411]", arguments);
  AddOverride(app, "--data-dir", "data_dir", "DIR",
              "Store all jobs in this directory and resume them after a restart (setting data_dir)",
              arguments);
  AddOverride(app, "--log-dir", "log_dir", "DIR",
              "Write each job's event log to this directory (setting log_dir)", arguments);
  AddOverride(app, "--spark-logs", "spark_logs", "DIR",
              "Follow the Spark applications that log to this directory (setting spark_logs)",
              arguments);
  AddOverride(app, "--history-logs", "history_logs", "DIR",
              "Learn past runs from this directory of a Hadoop history server (setting "
              "history_logs)",
              arguments);
  app.add_flag_callback(
      "--allow-insecure-remote",
      [&arguments] {
        arguments.overrides.push_back({.origin = "--allow-insecure-remote",
                                       .key = "allow_insecure_remote",
                                       .words = {"true"}});
      },
      "Allow addresses that other hosts can reach, even without TLS or tokens");
  OneOf(KnownIndicators(),
        app.add_option_function<std::vector<std::string>>(
               "--indicator",
               [&arguments](const std::vector<std::string>& names) {
                 arguments.overrides.push_back(
                     {.origin = "--indicator", .key = "estimate.indicators", .words = names});
               },
               "Indicators to compute, the main one first")
            ->expected(1, -1));
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&arguments](const std::vector<std::string>& words) {
           for (const std::string& word : words) arguments.overrides.push_back(ParseOverride(word));
         },
         "Any setting in docs/reference/settings.md; separate the items of a list with commas")
      ->expected(1, -1)
      ->type_name("KEY=VALUE");
}

void AddServe(CLI::App& root, Invocation& invocation) {
  CLI::App& app = *root.add_subcommand("serve", "Run a master for any number of jobs");
  auto& arguments = ArgumentsOf<ServeArguments>(app, invocation, Run);
  AddServeOptions(app, arguments);
  app.add_flag("--end-with-stdin", arguments.ends_with_stdin,
               "Exit when standard input closes, for a program that starts this master");
  AddFooter(app,
            "Exit code: 0 shut down by SIGTERM or SIGINT, 1 cannot listen, 2 an option, a setting\n"
            "or a file is wrong.");
}

}  // namespace tidemark::cli
