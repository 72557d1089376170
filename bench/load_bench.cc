// Runs many agents for a long time. Checks that the master's memory does not grow, that no event is
// lost, and that no tick is late. A few processes run the agents, each of which has its own stream
// and connection.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/quantile.h"
#include "bench/service/agent_load.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::bench {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);  // the default of a master
constexpr absl::Duration kBetweenSamples = absl::Seconds(5);

struct Settings {
  std::string self;
  std::uint32_t agents = 10'000;
  std::uint32_t processes = 4;
  std::uint32_t agents_per_job = 100;
  std::uint32_t points = 10;
  double messages_per_second = 0.5;  // per agent
  double minutes = 10;
  std::string json;
};

// Watches one job until it is stopped, and records the intervals between snapshots. The first
// minute, in which streams are opened, is recorded separately.
class Onlooker {
 public:
  Onlooker(const std::string& address, std::string job_id, absl::Time until)
      : job_id_(std::move(job_id)), until_(until), thread_([this, address] { Run(address); }) {}
  ~Onlooker() { Stop(); }
  void Stop() {
    stopping_ = true;
    context_.TryCancel();
    if (thread_.joinable()) thread_.join();
  }
  const std::vector<absl::Duration>& gaps() const { return gaps_; }
  absl::Duration longest_gap_at_first() const { return longest_gap_at_first_; }
  std::uint64_t lost() const { return lost_; }

 private:
  void Run(const std::string& address) {
    const auto stub = v1::JobService::NewStub(OwnChannel(address));
    v1::WatchJobRequest request;
    request.set_job_id(job_id_);
    const auto stream = stub->WatchJob(&context_, request);
    v1::WatchJobResponse response;
    const absl::Time begin = absl::Now();
    absl::Time last = begin;
    while (!stopping_ && stream->Read(&response)) {
      lost_ = response.snapshot().coverage().lost_events();
      const absl::Time now = absl::Now();
      const absl::Duration gap = now - std::exchange(last, now);
      if (now > until_) continue;  // The agents have ended and send few events.
      if (now - begin < absl::Minutes(1)) {
        longest_gap_at_first_ = std::max(longest_gap_at_first_, gap);
      } else {
        gaps_.push_back(gap);
      }
    }
    context_.TryCancel();
    stream->Finish();
  }

  const std::string job_id_;
  const absl::Time until_;
  grpc::ClientContext context_;
  std::atomic<bool> stopping_ = false;
  absl::Duration longest_gap_at_first_;
  std::vector<absl::Duration> gaps_;
  std::uint64_t lost_ = 0;
  std::thread thread_;
};

// The numbers of sent and acknowledged messages and of failed streams, for all agent processes
// together.
struct Shares {
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t failed_streams = 0;
};

class LoadBench {
 public:
  explicit LoadBench(const Settings& settings) : settings_(settings) {}

  int Run() {
    auto master = MasterProcess::Start(
        {settings_.self, "serve", "--listen", "127.0.0.1:0", "--data-dir", directory_.path()},
        absl::Seconds(30));
    if (!master.ok()) return Fail(master.status());
    for (std::uint32_t i = 0; i < settings_.processes; ++i) {
      if (absl::Status status = Spawn(i, master->address()); !status.ok()) return Fail(status);
    }
    const absl::Time begin = absl::Now();
    const absl::Duration duration = absl::Minutes(settings_.minutes);
    absl::SleepFor(kBetweenSamples);
    std::vector<std::unique_ptr<Onlooker>> onlookers;
    for (std::uint32_t i = 0; i < settings_.processes; ++i) {
      onlookers.push_back(std::make_unique<Onlooker>(
          master->address(), fmt::format("agents-{}-0", i), begin + duration));
    }
    std::vector<std::size_t> memory;
    const absl::Duration cpu = master->cpu_time();
    while (absl::Now() - begin < duration) {
      absl::SleepFor(kBetweenSamples);
      memory.push_back(master->resident_bytes());
    }
    const double cores = absl::FDivDuration(master->cpu_time() - cpu, absl::Now() - begin);
    const Shares shares = Wait();
    absl::Duration longest_gap_at_first;
    std::vector<absl::Duration> gaps;
    std::uint64_t lost = 0;
    for (auto& onlooker : onlookers) {
      onlooker->Stop();
      longest_gap_at_first = std::max(longest_gap_at_first, onlooker->longest_gap_at_first());
      gaps.insert(gaps.end(), onlooker->gaps().begin(), onlooker->gaps().end());
      lost += onlooker->lost();
    }
    const auto missed = std::count_if(gaps.begin(), gaps.end(),
                                      [](absl::Duration gap) { return gap >= 2 * kTick; });
    // The first quarter is excluded, since tables grow in that time.
    const std::size_t settled = memory.size() / 4;
    const nlohmann::ordered_json report = {
        {"agents", settings_.agents},
        {"minutes", settings_.minutes},
        {"messages_per_s", settings_.messages_per_second * settings_.agents},
        {"sent", shares.sent},
        {"acknowledged", shares.acknowledged},
        {"failed_streams", shares.failed_streams},
        {"lost_in_snapshots", lost},
        {"jobs_watched", onlookers.size()},
        {"snapshots_seen", gaps.size()},
        {"snapshots_two_ticks_late", missed},
        {"between_snapshots_median_s", absl::ToDoubleSeconds(Quantile(gaps, 0.5))},
        {"between_snapshots_p99_s", absl::ToDoubleSeconds(Quantile(gaps, 0.99))},
        {"between_snapshots_max_s", absl::ToDoubleSeconds(Quantile(gaps, 1))},
        {"between_snapshots_max_in_first_minute_s", absl::ToDoubleSeconds(longest_gap_at_first)},
        {"cores", cores},
        {"memory_bytes_after_a_quarter", memory.empty() ? 0 : memory[settled]},
        {"memory_bytes_at_the_end", memory.empty() ? 0 : memory.back()}};
    const bool whole =
        shares.sent == shares.acknowledged && shares.failed_streams == 0 && lost == 0;
    return WriteJson(report, settings_.json) && whole ? 0 : 1;
  }

 private:
  static int Fail(const absl::Status& status) {
    fmt::print(stderr, "load: {}\n", status.ToString());
    return 1;
  }

  // Starts a process that runs its share of the agents.
  absl::Status Spawn(std::uint32_t index, const std::string& address) {
    const std::uint32_t streams = settings_.agents / settings_.processes;
    const AgentLoad load = {.address = address,
                            .job_prefix = fmt::format("agents-{}", index),
                            .streams = streams,
                            .streams_per_job = settings_.agents_per_job,
                            .points = settings_.points,
                            .messages_per_second = settings_.messages_per_second * streams,
                            .duration = absl::Minutes(settings_.minutes)};
    return agents_.Start([load] {
      const LoadResult result = RunLoad(load);
      return fmt::format("{} {} {}", result.sent, result.messages, result.failed_streams);
    });
  }

  Shares Wait() {
    Shares all;
    for (const std::string& result : agents_.Join()) {
      Shares share;
      std::istringstream text(result);
      text >> share.sent >> share.acknowledged >> share.failed_streams;
      if (!text) ++all.failed_streams;
      all.sent += share.sent;
      all.acknowledged += share.acknowledged;
      all.failed_streams += share.failed_streams;
    }
    return all;
  }

  const Settings settings_;
  const ScratchDirectory directory_;
  AgentProcesses agents_;
};

int Main(int argc, char** argv) {
  CLI::App app("Runs many agents at a master for a long time.");
  app.option_defaults()->always_capture_default();
  Settings settings;
  settings.self = std::filesystem::absolute(argv[0]).string();
  app.add_option("--agents", settings.agents, "Number of agents");
  app.add_option("--processes", settings.processes, "Number of processes for the agents");
  app.add_option("--agents-per-job", settings.agents_per_job);
  app.add_option("--points", settings.points, "Key-group points per message");
  app.add_option("--rate", settings.messages_per_second, "Messages per second and agent");
  app.add_option("--minutes", settings.minutes, "Minutes of the measurement");
  app.add_option("--json", settings.json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  return LoadBench(settings).Run();
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  if (tidemark::bench::WantsToServe(argc, argv)) return tidemark::bench::Serve(argc, argv);
  return tidemark::bench::Main(argc, argv);
}
