// Measures how many messages of 100 key groups a master receives per second, with bins and points
// or with bins only. Compares the master with a bare gRPC server that reads the same messages. Each
// server is a separate process. This process on the same machine generates the load, which affects
// both servers equally.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/quantile.h"
#include "bench/service/agent_load.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"

namespace tidemark::bench {
namespace {

// Reads all messages and then responds with their number.
class SinkStream final
    : public grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
 public:
  SinkStream() { StartRead(&request_); }
  void OnReadDone(bool ok) override {
    if (ok) {
      ++messages_;
      return StartRead(&request_);
    }
    response_.set_accepted_sequence(messages_);
    StartWrite(&response_);
  }
  void OnWriteDone(bool) override { Finish(grpc::Status::OK); }
  void OnDone() override { delete this; }

 private:
  v1::StreamEventsRequest request_;
  v1::StreamEventsResponse response_;
  std::uint64_t messages_ = 0;
};

class Sink final : public v1::IngestService::CallbackService {
  grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse>* StreamEvents(
      grpc::CallbackServerContext*) override {
    return new SinkStream();
  }
};

int RunSink() {
  Sink sink;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&sink);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  fmt::print(stderr, "listening on 127.0.0.1:{}\n", port);
  server->Wait();
  return 0;
}

struct Settings {
  std::string self;
  std::vector<std::uint32_t> streams = {1, 16, 256, 1000};
  int repetitions = 5;
  double seconds = 1;
  double sustained_seconds = 10;
};

class IngestBench {
 public:
  explicit IngestBench(const Settings& settings) : settings_(settings) {}

  bool Run(nlohmann::ordered_json& report) {
    double worst_on = std::numeric_limits<double>::infinity();
    double worst_off = worst_on;
    for (const std::uint32_t streams : settings_.streams) {
      nlohmann::ordered_json row = Compare(streams);
      if (row.is_null()) return false;
      worst_on = std::min(worst_on, row["ratio_journal_on"].get<double>());
      worst_off = std::min(worst_off, row["ratio_journal_off"].get<double>());
      report["streams"].push_back(std::move(row));
    }
    report["ratio_journal_on"] = worst_on;
    report["ratio_journal_off"] = worst_off;
    return Sustain(report) && Idle(report);
  }

 private:
  std::vector<std::string> SinkCommand() const { return {settings_.self, "--sink"}; }
  std::vector<std::string> MasterCommand(const std::string& data_dir) const {
    std::vector<std::string> command = {settings_.self, "serve", "--listen", "127.0.0.1:0"};
    if (!data_dir.empty()) command.insert(command.end(), {"--data-dir", data_dir});
    return command;
  }

  // Runs each server in turn in a new process: the bare server, and a master without a journal,
  // with a journal, and without points.
  nlohmann::ordered_json Compare(std::uint32_t streams) {
    std::map<std::string, std::vector<double>> rates;
    std::map<std::string, std::vector<double>> costs;
    for (int i = 0; i < settings_.repetitions; ++i) {
      for (const char* server : {"sink", "journal_off", "journal_on", "without_points"}) {
        const Ingest ingest = Measure(server, streams);
        if (ingest.per_second <= 0) return nullptr;
        rates[server].push_back(ingest.per_second);
        costs[server].push_back(ingest.processor_us);
      }
    }
    const double sink = Median(rates["sink"]);
    return {{"streams", streams},
            {"sink_per_s", sink},
            {"journal_off_per_s", Median(rates["journal_off"])},
            {"journal_on_per_s", Median(rates["journal_on"])},
            {"ratio_journal_off", Median(rates["journal_off"]) / sink},
            {"ratio_journal_on", Median(rates["journal_on"]) / sink},
            {"sink_processor_us", Median(costs["sink"])},
            {"journal_off_processor_us", Median(costs["journal_off"])},
            {"journal_on_processor_us", Median(costs["journal_on"])},
            {"without_points_processor_us", Median(costs["without_points"])}};
  }

  struct Ingest {
    double per_second = 0;    // 0 if the server failed
    double processor_us = 0;  // microseconds per message, at the server
  };
  Ingest Measure(const std::string& server, std::uint32_t streams) {
    const ScratchDirectory directory;
    const auto process = MasterProcess::Start(
        server == "sink" ? SinkCommand()
                         : MasterCommand(server == "journal_off" ? "" : directory.path()),
        absl::Seconds(30));
    if (!process.ok()) {
      fmt::print(stderr, "ingest: {}: {}\n", server, process.status().ToString());
      return {};
    }
    const LoadResult result = RunLoad({.address = process->address(),
                                       .job_prefix = "load",
                                       .streams = streams,
                                       .points = server == "without_points" ? 0u : 100u,
                                       .duration = absl::Seconds(settings_.seconds)});
    const Ingest ingest = {
        .per_second = result.per_second(),
        .processor_us = absl::ToDoubleMicroseconds(process->cpu_time()) /
                        static_cast<double>(std::max<std::uint64_t>(result.messages, 1))};
    fmt::print(stderr, "{} streams, {}: {:.0f} messages/s, {:.1f} us of processor a message\n",
               streams, server, ingest.per_second, ingest.processor_us);
    if (result.failed_streams > 0) {
      fmt::print(stderr, "ingest: {}: {} streams failed\n", server, result.failed_streams);
    }
    return ingest;
  }

  // Sends a million key-group points per second to one job.
  bool Sustain(nlohmann::ordered_json& report) {
    const ScratchDirectory directory;
    const auto master = MasterProcess::Start(MasterCommand(directory.path()), absl::Seconds(30));
    if (!master.ok()) return false;
    AgentLoad load{.address = master->address(), .job_prefix = "warm-up", .streams = 20};
    load.messages_per_second = 10'000;
    load.duration = absl::Seconds(2);
    RunLoad(load);
    const std::size_t memory = master->resident_bytes();
    const absl::Duration cpu = master->cpu_time();
    load.job_prefix = "sustained";
    load.duration = absl::Seconds(settings_.sustained_seconds);
    const LoadResult result = RunLoad(load);
    const absl::Duration used = master->cpu_time() - cpu;
    report["sustained_points_per_s"] = result.per_second() * load.points;
    report["sustained_cores"] = absl::FDivDuration(used, result.elapsed);
    report["sustained_memory_growth_bytes"] =
        static_cast<double>(master->resident_bytes()) - static_cast<double>(memory);
    return result.failed_streams == 0;
  }

  bool Idle(nlohmann::ordered_json& report) {
    constexpr std::uint32_t kStreams = 1000;
    for (const std::uint32_t per_connection : {1u, 100u}) {
      const auto master = MasterProcess::Start(MasterCommand(""), absl::Seconds(30));
      if (!master.ok() || !OpenJob(OwnChannel(master->address()), "idle", kStreams)) return false;
      const std::size_t before = master->resident_bytes();
      const IdleStreams streams(master->address(), kStreams, per_connection);
      absl::SleepFor(absl::Seconds(2));
      const double grown = static_cast<double>(master->resident_bytes() - before);
      report[per_connection == 1 ? "idle_stream_bytes" : "idle_stream_bytes_shared_connection"] =
          grown / kStreams;
    }
    return true;
  }

  const Settings settings_;
};

int Main(int argc, char** argv) {
  CLI::App app("Measures a master and a bare gRPC server with messages of 100 key-group points.");
  app.option_defaults()->always_capture_default();
  Settings settings;
  std::string json;
  bool sink = false;
  settings.self = std::filesystem::absolute(argv[0]).string();
  app.add_flag("--sink", sink, "Run the bare server");
  app.add_option("--streams", settings.streams, "Numbers of streams");
  app.add_option("--repetitions", settings.repetitions, "Repetitions of each measurement");
  app.add_option("--seconds", settings.seconds, "Seconds per measurement");
  app.add_option("--sustained-seconds", settings.sustained_seconds,
                 "Seconds at a million points per second");
  app.add_option("--json", json, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (sink) return RunSink();
  nlohmann::ordered_json report;
  if (!IngestBench(settings).Run(report)) return 1;
  return WriteJson(report, json) ? 0 : 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  if (tidemark::bench::WantsToServe(argc, argv)) return tidemark::bench::Serve(argc, argv);
  return tidemark::bench::Main(argc, argv);
}
