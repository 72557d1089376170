// Measures the time from an event of an agent until a watcher receives a snapshot that contains the
// event.
//
// Each event contains its number in StreamEventsRequest.dropped_events. The coverage in a snapshot
// sums this field, so a snapshot shows exactly which events it contains.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/quantile.h"
#include "bench/service/agent_load.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::bench {
namespace {

// One job with a watcher and an agent that sends at a constant rate.
class AgentAndWatcher {
 public:
  AgentAndWatcher(const std::string& address, std::string job_id, double events_per_second,
                  absl::Duration duration)
      : job_id_(std::move(job_id)),
        between_(absl::Seconds(1 / events_per_second)),
        sent_at_(static_cast<std::size_t>(duration / between_)) {
    latencies_.reserve(sent_at_.size());
    OpenJob(OwnChannel(address), job_id_, 10);
    watcher_ = std::thread([this, address] { Watch(address); });
    agent_ = std::thread([this, address] { Send(address); });
  }
  const std::vector<double>& Join() {
    agent_.join();
    watcher_.join();
    return latencies_;
  }

 private:
  void Send(const std::string& address) {
    const auto stub = v1::IngestService::NewStub(OwnChannel(address));
    grpc::ClientContext context;
    const auto stream = stub->StreamEvents(&context);
    std::thread reader([&stream] {
      v1::StreamEventsResponse response;
      while (stream->Read(&response)) continue;
    });
    v1::StreamEventsRequest request = ProfileMessage(job_id_, 0, 10);
    const absl::Time begin = absl::Now();
    for (std::size_t i = 0; i < sent_at_.size(); ++i) {
      absl::SleepFor(begin + i * between_ - absl::Now());
      request.set_first_sequence(i + 1);
      request.set_dropped_events(i + 1);
      const std::int64_t now = absl::GetCurrentTimeNanos();
      request.set_sent_at(now);
      sent_at_[i].store(now, std::memory_order_relaxed);
      if (!stream->Write(request)) break;
    }
    stream->WritesDone();
    reader.join();
    stream->Finish();
  }

  void Watch(const std::string& address) {
    const auto stub = v1::JobService::NewStub(OwnChannel(address));
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_job_id(job_id_);
    const auto stream = stub->WatchJob(&context, request);
    v1::WatchJobResponse response;
    while (latencies_.size() < sent_at_.size() && stream->Read(&response)) {
      const std::int64_t now = absl::GetCurrentTimeNanos();
      const std::uint64_t known = response.snapshot().coverage().dropped_events();
      while (latencies_.size() < std::min<std::uint64_t>(known, sent_at_.size())) {
        const std::int64_t sent = sent_at_[latencies_.size()].load(std::memory_order_relaxed);
        latencies_.push_back(static_cast<double>(now - sent) / 1e6);
      }
    }
    context.TryCancel();
    stream->Finish();
  }

  const std::string job_id_;
  const absl::Duration between_;
  std::vector<std::atomic<std::int64_t>> sent_at_;
  std::vector<double> latencies_;  // in milliseconds
  std::thread watcher_;
  std::thread agent_;
};

struct Settings {
  std::string self;
  double events_per_second = 10'000;
  std::uint32_t jobs = 10;
  double seconds = 5;
  int repetitions = 5;
};

struct Latency {
  double median = 0;
  double p99 = 0;
  double max = 0;
};

absl::StatusOr<Latency> Measure(const Settings& settings) {
  const ScratchDirectory directory;
  const auto master = MasterProcess::Start(
      {settings.self, "serve", "--listen", "127.0.0.1:0", "--data-dir", directory.path()},
      absl::Seconds(30));
  if (!master.ok()) return master.status();
  std::vector<std::unique_ptr<AgentAndWatcher>> pairs;
  for (std::uint32_t job = 0; job < settings.jobs; ++job) {
    pairs.push_back(std::make_unique<AgentAndWatcher>(
        master->address(), fmt::format("watched-{}", job),
        settings.events_per_second / settings.jobs, absl::Seconds(settings.seconds)));
  }
  std::vector<double> all;
  for (auto& pair : pairs) {
    const std::vector<double>& latencies = pair->Join();
    all.insert(all.end(), latencies.begin(), latencies.end());
  }
  const auto expected = static_cast<std::size_t>(settings.events_per_second * settings.seconds);
  if (all.size() + settings.jobs < expected) {
    return absl::DataLossError(
        fmt::format("only {} of {} events reached a snapshot", all.size(), expected));
  }
  return Latency{Median(all), Quantile(all, 0.99), Quantile(all, 1)};
}

int Main(int argc, char** argv) {
  CLI::App app("Measures the time from an agent's event to its snapshot at a watcher.");
  app.option_defaults()->always_capture_default();
  Settings settings;
  std::string json;
  settings.self = std::filesystem::absolute(argv[0]).string();
  app.add_option("--rate", settings.events_per_second, "Events per second");
  app.add_option("--jobs", settings.jobs, "Number of jobs that share the events");
  app.add_option("--seconds", settings.seconds, "Seconds per run");
  app.add_option("--repetitions", settings.repetitions, "Number of runs");
  app.add_option("--json", json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  std::vector<Latency> runs;
  for (int i = 0; i < settings.repetitions; ++i) {
    const auto run = Measure(settings);
    if (!run.ok()) {
      fmt::print(stderr, "watch: {}\n", run.status().ToString());
      return 1;
    }
    runs.push_back(*run);
  }
  const auto median_of = [&runs](double Latency::*field) {
    std::vector<double> values;
    for (const Latency& run : runs) values.push_back(run.*field);
    return Median(std::move(values));
  };
  const nlohmann::ordered_json report = {{"events_per_s", settings.events_per_second},
                                         {"jobs", settings.jobs},
                                         {"runs", settings.repetitions},
                                         {"median_ms", median_of(&Latency::median)},
                                         {"p99_ms", median_of(&Latency::p99)},
                                         {"max_ms", median_of(&Latency::max)}};
  return WriteJson(report, json) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  if (tidemark::bench::WantsToServe(argc, argv)) return tidemark::bench::Serve(argc, argv);
  return tidemark::bench::Main(argc, argv);
}
