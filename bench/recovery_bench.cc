// Measures the effects of kill -9 on a master: lost acknowledged events (none are allowed) and the
// time until it is back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/json_report.h"
#include "bench/service/crash.h"
#include "bench/service/restart.h"
#include "bench/service/scratch.h"
#include "bench/service/serve.h"

namespace tidemark::bench {
namespace {

int Fail(const absl::Status& status) {
  fmt::print(stderr, "recovery: {}\n", status.ToString());
  return 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Kills a master under load and measures its recovery.");
  CrashOptions crash;
  RestartOptions restart;
  std::string json;
  bool no_restart = false;
  crash.tidemark = std::filesystem::absolute(argv[0]).string();
  app.add_option("--tidemark", crash.tidemark, "Path of the server [this program]")
      ->capture_default_str();
  app.add_option("--kills", crash.kills, "Number of kills")->capture_default_str();
  app.add_option("--seed", crash.seed, "Seed of the random instants of the kills")
      ->capture_default_str();
  app.add_option("--jobs", restart.jobs, "Number of jobs in the restart")->capture_default_str();
  app.add_option("--running", restart.running, "Number of these jobs that are running")
      ->capture_default_str();
  app.add_option("--events", restart.events, "Number of events in the restart")
      ->capture_default_str();
  app.add_flag("--no-restart", no_restart, "Measure only the kills");
  app.add_option("--json", json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  restart.tidemark = crash.tidemark;

  const ScratchDirectory crash_directory;
  crash.directory = crash_directory.path();
  const auto crashed = Crash(crash);
  if (!crashed.ok()) return Fail(crashed.status());
  nlohmann::ordered_json report = {{"kills", crashed->kills},
                                   {"kills_in_recovery", crashed->kills_in_recovery},
                                   {"acknowledged", crashed->acknowledged},
                                   {"lost_acknowledged", crashed->lost_acknowledged},
                                   {"counted_twice", crashed->counted_twice},
                                   {"lost_in_snapshots", crashed->lost_in_snapshots},
                                   {"sequences_reused", crashed->sequences_reused},
                                   {"restart_after_kill_median_s", crashed->restart_median_s},
                                   {"restart_after_kill_max_s", crashed->restart_max_s}};
  if (!no_restart) {
    const ScratchDirectory directory;
    restart.directory = directory.path();
    const auto restarted = MeasureRestart(restart);
    if (!restarted.ok()) return Fail(restarted.status());
    report["restart_jobs"] = restart.jobs;
    report["restart_running_jobs"] = restart.running;
    report["restart_events"] = restarted->events;
    report["restart_journal_bytes"] = restarted->journal_bytes;
    report["restart_s"] = restarted->median_s;
    report["restart_max_s"] = restarted->max_s;
  }
  const bool truthful = crashed->lost_acknowledged == 0 && crashed->counted_twice == 0 &&
                        crashed->lost_in_snapshots == 0 && crashed->sequences_reused == 0;
  return WriteJson(report, json) && truthful ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  if (tidemark::bench::WantsToServe(argc, argv)) return tidemark::bench::Serve(argc, argv);
  return tidemark::bench::Main(argc, argv);
}
