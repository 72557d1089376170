// Runs several masters behind proxies that route by job, and kills one of them. Measures the
// effects on the other masters, and the time until the jobs of the killed master are available
// again.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/quantile.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"
#include "bench/service/steady_agents.h"
#include "tidemark/client.h"

namespace tidemark::bench {
namespace {

constexpr int kMasters = 4;  // as in packaging/proxy/haproxy.cfg
constexpr absl::Duration kPatience = absl::Seconds(60);

struct Settings {
  std::string tidemark;
  std::string haproxy = "haproxy";
  std::string config;
  std::uint32_t agents = 40'000;
  std::uint32_t processes = 4;  // number of agent processes, each with its own proxy
  std::uint32_t agents_per_job = 100;
  double seconds_between = 10;  // time between two messages of an agent
  double opening_s = 60;
  double seconds = 150;  // time from the first message to the last
  double kill_after_s = 100;
  double dead_s = 1;           // RestartSec of the systemd unit
  std::uint32_t watched = 25;  // number of watched jobs of each master
  std::string json;
};

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

// Returns an unused port on loopback.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  int port = 0;
  if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    port = ntohs(address.sin_port);
  }
  close(socket);
  return port;
}

// A process that the destructor ends.
class Child {
 public:
  Child(std::vector<std::string> words, const std::map<std::string, std::string>& environment) {
    pid_ = fork();
    if (pid_ != 0) return;
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0 && kill(pid_, SIGTERM) == 0) waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

// Watches one job through a proxy, and records the times of its snapshots.
class Watcher {
 public:
  Watcher(const std::string& address, std::string job_id, int master)
      : master_(master),
        thread_([this, address, job = std::move(job_id)](const std::stop_token& stop) {
          const auto client = Client::Create({.address = address});
          if (!client.ok()) return;
          const WatchOptions options = {.view = View::kBasic};
          (*client)
              ->WatchJob(job, options,
                         {.on_snapshot =
                              [this](const Snapshot&) {
                                const std::lock_guard lock(mutex_);
                                heard_.push_back(absl::Now());
                                return true;
                              }},
                         stop)
              .IgnoreError();
        }) {}

  int master() const { return master_; }
  // Returns the longest time without a snapshot that ended in [begin, end].
  double LongestGap(absl::Time begin, absl::Time end) const {
    const std::lock_guard lock(mutex_);
    double longest = heard_.empty() || heard_.back() < begin ? Seconds(end - begin) : 0;
    for (std::size_t i = 1; i < heard_.size(); ++i) {
      if (heard_[i] < begin || heard_[i] > end) continue;
      longest = std::max(longest, Seconds(heard_[i] - heard_[i - 1]));
    }
    return longest;
  }
  absl::Time FirstSince(absl::Time begin) const {
    const std::lock_guard lock(mutex_);
    for (const absl::Time at : heard_) {
      if (at >= begin) return at;
    }
    return absl::InfiniteFuture();
  }

 private:
  const int master_;
  mutable std::mutex mutex_;  // Guards the members below.
  std::vector<absl::Time> heard_;
  std::jthread thread_;
};

nlohmann::json Told(const SteadyJobFate& job) {
  nlohmann::json told = {{"job", job.job_id}, {"is_open", job.is_open}};
  std::uint64_t sent = 0, acknowledged = 0, refused = 0, breaks = 0;
  told["back"] = nlohmann::json::array();
  for (const SteadyAgentFate& agent : job.agents) {
    sent += agent.sent;
    acknowledged += agent.acknowledged;
    refused += agent.refused;
    breaks += agent.breaks;
    if (agent.breaks > 0) told["back"].push_back(absl::ToUnixMicros(agent.back_at));
  }
  told.update(
      {{"sent", sent}, {"acknowledged", acknowledged}, {"refused", refused}, {"breaks", breaks}});
  return told;
}

class ScaleBench {
 public:
  explicit ScaleBench(const Settings& settings) : settings_(settings) {}

  int Run() {
    for (int i = 0; i < kMasters; ++i) {
      addresses_.push_back(fmt::format("127.0.0.1:{}", FreePort()));
      auto master = StartMaster(i);
      if (!master.ok()) return Fail("a master", master.status());
      masters_.push_back(*std::move(master));
    }
    StartProxies();
    for (std::uint32_t i = 0; i < settings_.processes; ++i) {
      if (absl::Status status = StartAgents(i); !status.ok()) return Fail("agents", status);
    }
    if (absl::Status status = FindJobs(); !status.ok()) return Fail("jobs", status);
    const absl::Time begin = absl::Now();
    absl::SleepFor(absl::Seconds(settings_.opening_s));
    WatchSome();
    absl::SleepFor(begin + absl::Seconds(settings_.kill_after_s) - absl::Now());
    const absl::Time killed = absl::Now();
    const double resident = static_cast<double>(masters_[0].resident_bytes());
    const double cores = Seconds(masters_[0].cpu_time()) / Seconds(killed - begin);
    masters_[0].Kill();
    absl::SleepFor(absl::Seconds(settings_.dead_s));
    const absl::Time restarted = absl::Now();
    auto again = StartMaster(0);
    if (!again.ok()) return Fail("the killed master", again.status());
    const absl::Time listens = absl::Now();
    masters_[0] = *std::move(again);
    const std::vector<std::string> results = agents_.Join();
    const absl::Time end = begin + absl::Seconds(settings_.seconds);

    nlohmann::ordered_json report = {
        {"masters", kMasters},
        {"proxies", settings_.processes},
        {"agents", settings_.agents},
        {"messages_per_s", settings_.agents / settings_.seconds_between},
        {"seconds", settings_.seconds},
        {"jobs_of_each_master", jobs_of_each_},
        {"resident_bytes_of_the_one_before_it_was_killed", resident},
        {"cores_of_it", cores},
        {"dead_s", Seconds(restarted - killed)},
        {"listens_after_s", Seconds(listens - restarted)}};
    std::vector<double> others_before, others_after, back;
    for (const auto& watcher : watchers_) {
      if (watcher->master() == 0) {
        back.push_back(Seconds(watcher->FirstSince(restarted) - restarted));
      } else {
        others_before.push_back(watcher->LongestGap(killed - absl::Seconds(20), killed));
        others_after.push_back(
            watcher->LongestGap(killed, std::min(killed + absl::Seconds(20), end)));
      }
    }
    watchers_.clear();
    report["watched_jobs_of_it"] = back.size();
    report["snapshots_again_after_s"] = {{"median", Quantile(back, 0.5)},
                                         {"max", Quantile(back, 1)}};
    report["watched_jobs_of_others"] = others_before.size();
    report["longest_gap_of_others_in_20_s_before_s"] = Quantile(others_before, 1);
    report["longest_gap_of_others_in_20_s_after_s"] = Quantile(others_after, 1);
    return AddAgents(results, restarted, report) && WriteJson(report, settings_.json) ? 0 : 1;
  }

 private:
  static int Fail(const std::string& what, const absl::Status& status) {
    fmt::print(stderr, "scale: {}: {}\n", what, status.ToString());
    return 1;
  }

  absl::StatusOr<MasterProcess> StartMaster(int index) {
    // These settings are for a master behind proxies, for which all agents are on a few hosts
    // (docs/scale.md).
    return MasterProcess::Start(
        {settings_.tidemark, "serve", "--listen", addresses_[index], "--data-dir",
         fmt::format("{}/{}", directory_.path(), index), "--set", "limits.streams_per_peer=1000000",
         "--set", "limits.share_percent=100", "--set", "limits.calls_per_second=0", "--set",
         "tick.interval_min=1s"},
        kPatience);
  }

  void StartProxies() {
    const std::string more = scratch_.path() + "/limits.cfg";
    // Without this option, HAProxy reserves two descriptors for each connection, which is more than
    // it needs.
    std::ofstream(more) << "global\n  no strict-limits\n";
    for (std::uint32_t i = 0; i < settings_.processes; ++i) {
      proxy_addresses_.push_back(fmt::format("127.0.0.1:{}", FreePort()));
      std::map<std::string, std::string> environment = {
          {"TIDEMARK_PROXY", proxy_addresses_.back()}};
      for (int master = 0; master < kMasters; ++master) {
        environment[fmt::format("TIDEMARK_MASTER_{}", master + 1)] = addresses_[master];
      }
      proxies_.push_back(
          std::make_unique<Child>(std::vector<std::string>{settings_.haproxy, "-db", "-q", "-f",
                                                           settings_.config, "-f", more},
                                  environment));
    }
  }

  absl::Status StartAgents(std::uint32_t index) {
    const SteadyLoad load = {.address = proxy_addresses_[index],
                             .job_prefix = fmt::format("scale-{}", index),
                             .agents = settings_.agents / settings_.processes,
                             .agents_per_job = settings_.agents_per_job,
                             .between_messages = absl::Seconds(settings_.seconds_between),
                             .opening = absl::Seconds(settings_.opening_s),
                             .duration = absl::Seconds(settings_.seconds)};
    return agents_.Start([load] {
      nlohmann::json told = nlohmann::json::array();
      for (const SteadyJobFate& job : RunSteadyLoad(load)) told.push_back(Told(job));
      return told.dump();
    });
  }

  // Requests the list of jobs from each master after all jobs were opened.
  absl::Status FindJobs() {
    const std::size_t jobs = settings_.agents / settings_.agents_per_job;
    const absl::Time deadline = absl::Now() + 5 * kPatience;
    std::size_t known = 0;
    while (known < jobs) {
      if (absl::Now() > deadline) return absl::DeadlineExceededError("not all are open");
      absl::SleepFor(absl::Seconds(1));
      known = 0;
      at_.clear();
      for (int master = 0; master < kMasters; ++master) {
        const auto client =
            Client::Create({.address = addresses_[master], .answer_within = kPatience});
        if (!client.ok()) return client.status();
        const auto listed = (*client)->ListJobs();
        if (!listed.ok()) return listed.status();
        for (const Snapshot& job : *listed) at_[job.job_id].push_back(master);
        jobs_of_each_[master] = listed->size();
        known += listed->size();
      }
    }
    return absl::OkStatus();
  }

  // Watches some jobs of each master through the proxies.
  void WatchSome() {
    std::array<std::uint32_t, kMasters> watched = {};
    for (const auto& [job, masters] : at_) {
      const int master = masters.front();
      if (watched[master]++ >= settings_.watched) continue;
      const std::string& proxy = proxy_addresses_[watchers_.size() % proxy_addresses_.size()];
      watchers_.push_back(std::make_unique<Watcher>(proxy, job, master));
    }
  }

  // Reports the agents' results, with the results of the killed master separate. Returns false if a
  // check fails.
  bool AddAgents(const std::vector<std::string>& results, absl::Time restarted,
                 nlohmann::ordered_json& report) const {
    std::uint64_t sent = 0, acknowledged = 0, refused = 0, breaks_of_others = 0, never = 0;
    std::vector<double> back, whole_jobs;
    std::size_t agents_of_it = 0, at_two = 0, unopened = 0;
    for (const std::string& result : results) {
      const auto jobs = nlohmann::json::parse(result, nullptr, false);
      if (jobs.is_discarded()) return false;
      for (const auto& job : jobs) {
        sent += job["sent"].get<std::uint64_t>();
        acknowledged += job["acknowledged"].get<std::uint64_t>();
        refused += job["refused"].get<std::uint64_t>();
        if (!job["is_open"].get<bool>()) ++unopened;
        const auto found = at_.find(job["job"].get<std::string>());
        if (found == at_.end() || found->second.size() != 1) ++at_two;
        if (found == at_.end() || found->second.front() != 0) {
          breaks_of_others += job["breaks"].get<std::uint64_t>();
          continue;
        }
        agents_of_it += settings_.agents_per_job;
        double last = 0;
        for (const std::int64_t micros : job["back"]) {
          const double after = Seconds(absl::FromUnixMicros(micros) - restarted);
          if (after < 0) {
            ++never;
          } else {
            back.push_back(after);
            last = std::max(last, after);
          }
        }
        whole_jobs.push_back(last);
      }
    }
    report["sent"] = sent;
    report["acknowledged"] = acknowledged;
    report["refused"] = refused;
    report["jobs_not_opened"] = unopened;
    report["jobs_at_no_master_or_two"] = at_two;
    report["broken_streams_of_others"] = breaks_of_others;
    report["agents_of_it"] = agents_of_it;
    report["agents_of_it_whose_stream_broke"] = back.size() + never;
    report["agents_of_it_that_never_came_back"] = never;
    report["agents_acknowledged_again_after_s"] = {
        {"median", Quantile(back, 0.5)}, {"p99", Quantile(back, 0.99)}, {"max", Quantile(back, 1)}};
    report["all_agents_of_a_job_after_s"] = {{"median", Quantile(whole_jobs, 0.5)},
                                             {"max", Quantile(whole_jobs, 1)}};
    return true;
  }

  const Settings settings_;
  const ScratchDirectory directory_;
  const ScratchDirectory scratch_;
  std::vector<std::string> addresses_;
  std::vector<MasterProcess> masters_;
  std::vector<std::string> proxy_addresses_;
  std::vector<std::unique_ptr<Child>> proxies_;
  AgentProcesses agents_;
  std::map<std::string, std::vector<int>> at_;
  std::array<std::size_t, kMasters> jobs_of_each_ = {};
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

int Main(int argc, char** argv) {
  CLI::App app("Runs four masters behind proxies and kills one of them.");
  app.option_defaults()->always_capture_default();
  Settings settings;
  app.add_option("--tidemark", settings.tidemark, "Path of the tidemark program");
  app.add_option("--haproxy", settings.haproxy, "Path of the HAProxy program");
  app.add_option("--config", settings.config, "Path of packaging/proxy/haproxy.cfg");
  app.add_option("--agents", settings.agents, "Number of agents");
  app.add_option("--processes", settings.processes,
                 "Number of processes for the agents, and of proxies");
  app.add_option("--agents-per-job", settings.agents_per_job);
  app.add_option("--between", settings.seconds_between, "Seconds between messages of an agent");
  app.add_option("--opening", settings.opening_s, "Seconds until all agents have started");
  app.add_option("--seconds", settings.seconds, "Seconds of the measurement");
  app.add_option("--kill-after", settings.kill_after_s, "Seconds until a master is killed");
  app.add_option("--dead", settings.dead_s, "Seconds until the killed master is restarted");
  app.add_option("--watched", settings.watched, "Number of watched jobs per master");
  app.add_option("--json", settings.json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  return ScaleBench(settings).Run();
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
