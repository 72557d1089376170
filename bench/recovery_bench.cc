// Measures the effects of `kill -9` on a master: the number of lost acknowledged events, which must
// be zero, and the time until the master responds again.
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "bench/json_report.h"
#include "bench/quantile.h"
#include "bench/service/agent_load.h"
#include "bench/service/master_process.h"
#include "bench/service/scratch.h"
#include "master/service/job_table.h"
#include "master/store/event_log.h"
#include "proto/wire/encode_event.h"
#include "tests/wire/encode_request.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::bench {
namespace {

struct CrashOptions {
  std::string tidemark;   // path of the program
  std::string directory;  // data directory of the master; initially empty
  std::uint32_t kills = 500;
  std::uint32_t jobs = 4;             // concurrent jobs
  std::uint32_t sources_per_job = 2;  // number of sources, each with its own stream
  // after these kills, the jobs end and are checked, and other jobs follow
  std::uint32_t kills_per_job = 25;
  std::uint32_t seed = 1;
};

struct CrashReport {
  std::uint32_t kills = 0;
  std::uint32_t kills_in_recovery = 0;  // kills before the master had begun to listen
  std::uint64_t acknowledged = 0;       // number of acknowledged events
  // acknowledged events that are missing or changed in the journal
  std::uint64_t lost_acknowledged = 0;
  std::uint64_t counted_twice = 0;      // events that are stored more than once
  std::uint64_t lost_in_snapshots = 0;  // events that final snapshots do not contain
  // sequence numbers of snapshots that were reused or decreased
  std::uint64_t sequences_reused = 0;
  double restart_median_s = 0;  // from the start of a process until it listens
  double restart_max_s = 0;
};

constexpr absl::Duration kRestartTimeout = absl::Seconds(60);
constexpr absl::Duration kEndTimeout = absl::Seconds(60);
constexpr std::uint32_t kMapTasks = 1000;
// Maximum number of unacknowledged events of a stream.
constexpr std::uint64_t kWindow = 200;

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 10);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Returns the event with the given sequence number, which is always the same event.
EventBody BodyOf(std::uint64_t sequence) {
  if (sequence == 1) return JobOpened{.stages = MapReduceStages(kMapTasks, 1)};
  const auto task = static_cast<std::uint32_t>(sequence * 7919 % kMapTasks);
  return TaskHeartbeat{.attempt = {.stage = kMapStage, .index = task},
                       .bytes_done = sequence * 1000,
                       .records_done = sequence};
}

v1::StreamEventsRequest RequestOf(const std::string& job_id, const std::string& source_id,
                                  std::uint64_t sequence, EventBody body) {
  v1::StreamEventsRequest request;
  wire::EncodeRequest({.job_id = job_id,
                       .source_id = source_id,
                       .sequence = sequence,
                       .sent_at = absl::Now(),
                       .body = std::move(body)},
                      request);
  return request;
}

// A source that sends continuously, reconnects after its master was killed, and records
// acknowledgements.
class Sender {
 public:
  Sender(std::string job_id, std::string source_id, std::string address)
      : job_id_(std::move(job_id)),
        source_id_(std::move(source_id)),
        address_(std::move(address)),
        thread_([this] { Run(); }) {}
  ~Sender() { Stop(); }

  // Stops sending. Returns after all sent events were acknowledged or Cancel() was called.
  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  const std::string& job_id() const { return job_id_; }
  const std::string& source_id() const { return source_id_; }
  std::uint64_t acknowledged() const { return acknowledged_; }

 private:
  using Stream = grpc::ClientReaderWriter<v1::StreamEventsRequest, v1::StreamEventsResponse>;

  void Run() {
    while (!stopping_ || acknowledged_ < sent_) {
      const auto channel = NewChannel(address_);
      const auto stub = v1::IngestService::NewStub(channel);
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
      const std::unique_ptr<Stream> stream = stub->StreamEvents(&context);
      SendOn(*stream);
      context.TryCancel();
      stream->Finish();
    }
  }

  // Resends unacknowledged events, and sends further events until the stream breaks.
  void SendOn(Stream& stream) {
    std::uint64_t next = acknowledged_ + 1;
    while (true) {
      const bool may_send = !stopping_ || next <= sent_;
      for (int i = 0; may_send && i < 20 && next < acknowledged_ + kWindow; ++i, ++next) {
        if (!stream.Write(RequestOf(job_id_, source_id_, next, BodyOf(next)))) return;
        sent_ = std::max(sent_, next);
      }
      if (acknowledged_ + 1 < next) {
        v1::StreamEventsResponse response;
        if (!stream.Read(&response)) return;
        acknowledged_ = std::max<std::uint64_t>(acknowledged_, response.accepted_sequence());
      } else if (stopping_) {
        return;
      }
    }
  }

  const std::string job_id_;
  const std::string source_id_;
  const std::string address_;
  std::uint64_t sent_ = 0;
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// Watches one job continuously. A sequence number must not occur in two different snapshots.
class Onlooker {
 public:
  Onlooker(std::string job_id, std::string address)
      : job_id_(std::move(job_id)), address_(std::move(address)), thread_([this] { Run(); }) {}
  ~Onlooker() { Stop(); }
  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t sequences_reused() const { return reused_; }

 private:
  void Run() {
    const auto channel = NewChannel(address_);
    const auto stub = v1::JobService::NewStub(channel);
    while (!stopping_) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
      v1::GetJobRequest request;
      v1::GetJobResponse response;
      request.set_job_id(job_id_);
      if (stub->GetJob(&context, request, &response).ok()) Look(response.snapshot());
      absl::SleepFor(absl::Milliseconds(20));
    }
  }
  void Look(const v1::Snapshot& snapshot) {
    const bool goes_back = snapshot.sequence() < newest_.sequence();
    const bool differs = snapshot.sequence() == newest_.sequence() && snapshot.sequence() != 0 &&
                         snapshot.SerializeAsString() != newest_.SerializeAsString();
    reused_ += goes_back || differs ? 1 : 0;
    newest_ = snapshot;
  }

  const std::string job_id_;
  const std::string address_;
  v1::Snapshot newest_;
  std::atomic<std::uint64_t> reused_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class Crasher {
 public:
  explicit Crasher(const CrashOptions& options) : options_(options), random_(options.seed) {}

  absl::StatusOr<CrashReport> Run() {
    if (absl::Status status = StartMaster("127.0.0.1:0"); !status.ok()) return status;
    address_ = master_->address();
    for (std::uint32_t generation = 0; report_.kills < options_.kills; ++generation) {
      if (absl::Status status = RunGeneration(generation); !status.ok()) return status;
    }
    report_.restart_median_s = Median(restarts_);
    report_.restart_max_s = Quantile(restarts_, 1);
    return report_;
  }

 private:
  std::vector<std::string> Command(const std::string& address) const {
    return {options_.tidemark, "serve", "--listen", address, "--data-dir", options_.directory};
  }

  absl::Status StartMaster(const std::string& address) {
    const absl::Time begin = absl::Now();
    auto master = MasterProcess::Start(Command(address), kRestartTimeout);
    if (!master.ok()) return master.status();
    master_ = *std::move(master);
    restarts_.push_back(absl::ToDoubleSeconds(absl::Now() - begin));
    return absl::OkStatus();
  }

  absl::Status KillOnce() {
    SleepUpTo(absl::Milliseconds(250));
    master_->Kill();
    ++report_.kills;
    // In some rounds, kills the master again during its recovery.
    while (random_() % 8 == 0 && report_.kills < options_.kills) {
      auto master = MasterProcess::Spawn(Command(address_));
      if (!master.ok()) return master.status();
      SleepUpTo(absl::Milliseconds(60));
      master->Kill();
      ++report_.kills;
      ++report_.kills_in_recovery;
    }
    return StartMaster(address_);
  }

  void SleepUpTo(absl::Duration longest) {
    absl::SleepFor(longest * std::uniform_real_distribution<double>(0, 1)(random_));
  }

  // Runs some jobs from their opening to their end.
  absl::Status RunGeneration(std::uint32_t generation) {
    std::vector<std::unique_ptr<Sender>> senders;
    std::vector<std::unique_ptr<Onlooker>> onlookers;
    for (std::uint32_t job = 0; job < options_.jobs; ++job) {
      const std::string job_id = fmt::format("crash-{}-{}", generation, job);
      for (std::uint32_t source = 0; source < options_.sources_per_job; ++source) {
        senders.push_back(
            std::make_unique<Sender>(job_id, fmt::format("source-{}", source), address_));
      }
      onlookers.push_back(std::make_unique<Onlooker>(job_id, address_));
    }
    const std::uint32_t until = std::min(options_.kills, report_.kills + options_.kills_per_job);
    while (report_.kills < until) {
      if (absl::Status status = KillOnce(); !status.ok()) return status;
    }
    for (auto& sender : senders) sender->Stop();
    for (auto& onlooker : onlookers) {
      onlooker->Stop();
      report_.sequences_reused += onlooker->sequences_reused();
    }
    return Audit(senders);
  }

  absl::Status Audit(const std::vector<std::unique_ptr<Sender>>& senders) {
    std::set<std::string> jobs;
    for (const auto& sender : senders) jobs.insert(sender->job_id());
    for (const std::string& job_id : jobs) {
      if (absl::Status status = CheckSnapshot(job_id); !status.ok()) return status;
    }
    for (const std::string& job_id : jobs) {
      if (absl::Status status = CheckJournal(job_id, senders); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Closes the job. Returns an error unless its final snapshot is complete.
  absl::Status CheckSnapshot(const std::string& job_id) {
    const auto channel = NewChannel(address_);
    const auto ingest = v1::IngestService::NewStub(channel);
    grpc::ClientContext context;
    const auto stream = ingest->StreamEvents(&context);
    stream->Write(RequestOf(job_id, "closer", 1, JobClosed{}));
    stream->WritesDone();
    v1::StreamEventsResponse response;
    while (stream->Read(&response)) continue;
    if (const grpc::Status status = stream->Finish(); !status.ok()) {
      return absl::UnavailableError(fmt::format("{}: {}", job_id, status.error_message()));
    }
    const auto progress = v1::JobService::NewStub(channel);
    const absl::Time deadline = absl::Now() + kEndTimeout;
    while (absl::Now() < deadline) {
      grpc::ClientContext get_context;
      v1::GetJobRequest get;
      v1::GetJobResponse got;
      get.set_job_id(job_id);
      const grpc::Status status = progress->GetJob(&get_context, get, &got);
      if (status.ok() && got.snapshot().final()) {
        report_.lost_in_snapshots += got.snapshot().coverage().lost_events();
        return absl::OkStatus();
      }
      absl::SleepFor(absl::Milliseconds(20));
    }
    return absl::DeadlineExceededError(fmt::format("{} did not exit", job_id));
  }

  // Returns an error unless every acknowledged event is stored exactly once and unchanged.
  absl::Status CheckJournal(const std::string& job_id,
                            const std::vector<std::unique_ptr<Sender>>& senders) {
    const auto reader =
        store::EventLogReader::Open(store::EventLogPath(options_.directory, job_id));
    if (!reader.ok()) return reader.status();
    std::map<std::string, std::map<std::uint64_t, Event>> kept;
    while (true) {
      auto record = (*reader)->Next();
      if (!record.ok()) return record.status();
      if (!record->has_value()) break;
      Event* const event = std::get_if<Event>(&**record);
      if (event == nullptr) continue;
      const bool is_new = kept[event->source_id].emplace(event->sequence, std::move(*event)).second;
      report_.counted_twice += is_new ? 0 : 1;
    }
    for (const auto& sender : senders) {
      if (sender->job_id() != job_id) continue;
      report_.acknowledged += sender->acknowledged();
      const auto& events = kept[sender->source_id()];
      for (std::uint64_t sequence = 1; sequence <= sender->acknowledged(); ++sequence) {
        const auto event = events.find(sequence);
        if (event == events.end() || !IsAsSent(event->second)) {
          ++report_.lost_acknowledged;
        }
      }
    }
    return absl::OkStatus();
  }

  static bool IsAsSent(const Event& kept) { return kept.body == BodyOf(kept.sequence); }

  const CrashOptions options_;
  std::mt19937 random_;
  CrashReport report_;
  std::optional<MasterProcess> master_;
  std::string address_;
  std::vector<double> restarts_;
};

// Returns an error if the master does not start or does not restart.
absl::StatusOr<CrashReport> Crash(const CrashOptions& options) { return Crasher(options).Run(); }

struct RestartOptions {
  std::string tidemark;   // path of the program
  std::string directory;  // data directory of the master; initially empty
  std::uint32_t jobs = 1000;
  std::uint32_t running = 100;  // number of running jobs
  std::uint64_t events = 10'000'000;
  int repetitions = 5;
};

struct RestartReport {
  std::uint64_t events = 0;
  std::uint64_t journal_bytes = 0;
  double median_s = 0;  // time from the start until the master listens and has all jobs
  double max_s = 0;
};

// Number of tasks of a job, half of which are map tasks. Each task reports every second.
constexpr std::uint32_t kTasks = 100;
constexpr std::uint32_t kRestartMapTasks = kTasks / 2;

// Writes the events of one job in virtual time. Its map tasks run and end, and then its reduce
// tasks send profiles.
class Writer {
 public:
  Writer(service::JobTable& jobs, std::string job_id, std::uint64_t events, bool ends)
      : jobs_(jobs), job_id_(std::move(job_id)), events_left_(events), ends_(ends) {}

  void Write() {
    const std::uint64_t half = events_left_ / 2;
    Send(JobOpened{.stages = MapReduceStages(kRestartMapTasks, kTasks - kRestartMapTasks)});
    for (std::uint32_t i = 0; i < kRestartMapTasks; ++i)
      Change(kMapStage, i, AttemptState::kStarted);
    while (events_left_ > half) {
      NextSecond();
      for (std::uint32_t i = 0; i < kRestartMapTasks && events_left_ > half; ++i) {
        Send(TaskHeartbeat{.attempt = {kMapStage, i, 0}, .bytes_done = second_ * 1000});
      }
    }
    for (std::uint32_t i = 0; i < kRestartMapTasks; ++i) {
      MapProfile profile{.attempt = {kMapStage, i, 0}};
      for (std::uint32_t p = 0; p < kTasks - kRestartMapTasks; ++p) {
        profile.partitions.push_back({.partition = p, .total_bytes = 1'000'000});
        profile.partitions.back().implicit_bytes = 1'000'000;
        profile.partitions.back().implicit_key_count = 1000;
      }
      Send(profile);
      Change(kMapStage, i, AttemptState::kFinished);
    }
    for (std::uint32_t i = 0; i < kTasks - kRestartMapTasks; ++i) {
      Change(kReduceStage, i, AttemptState::kStarted);
      Change(kReduceStage, i, AttemptState::kShuffled);
    }
    while (events_left_ > 2) {
      NextSecond();
      for (std::uint32_t i = 0; i < kTasks - kRestartMapTasks && events_left_ > 2; ++i)
        SendProfile(i);
    }
    if (ends_) Send(JobClosed{JobOutcome::kSucceeded, "", std::nullopt});
    NextSecond();
  }

 private:
  absl::Time now() const { return absl::FromUnixSeconds(1'700'000'000) + absl::Seconds(second_); }

  void NextSecond() {
    ++second_;
    jobs_.TickDue(now());
  }
  void Change(std::uint32_t stage, std::uint32_t index, AttemptState state) {
    Send(AttemptChanged{.attempt = {stage, index, 0}, .state = state});
  }
  void SendProfile(std::uint32_t index) {
    ++profiles_;
    ReduceProfile profile{.attempt = {kReduceStage, index, 0}};
    profile.last_group_finished_at = now();
    profile.groups_done = profiles_ / kRestartMapTasks * 10;
    profile.bytes_done = profile.groups_done * 1000;
    profile.reduce_time = absl::Seconds(profiles_ / kRestartMapTasks);
    for (std::uint64_t p = 0; p < 5; ++p) {
      profile.points.push_back(
          {100 + (p * 37 + profiles_ * 11) % 5000, 2, absl::Milliseconds(200)});
    }
    Send(profile);
  }
  void Send(EventBody body) {
    Event event{.job_id = job_id_,
                .source_id = "source",
                .sequence = ++sequence_,
                .sent_at = now(),
                .arrived_at = now(),
                .body = std::move(body)};
    jobs_.Ingest(wire::EncodeEvent(event), now());
    if (events_left_ > 0) --events_left_;
  }

  service::JobTable& jobs_;
  const std::string job_id_;
  std::uint64_t events_left_;
  const bool ends_;
  std::uint64_t sequence_ = 0;
  std::uint64_t profiles_ = 0;
  std::uint64_t second_ = 0;
};

// Creates each job with a separate table, since only the files are used.
void WriteJournal(const RestartOptions& options) {
  for (std::uint32_t job = 0; job < options.jobs; ++job) {
    service::JobTableOptions table;
    table.data_dir = options.directory;
    table.disk = store::MakeFileDisk(/*sync=*/false);
    table.journal.commit_interval = absl::ZeroDuration();
    const bool ends = job >= options.running;
    // After a restart, the intermediate estimates of an ended job are not read.
    if (ends) table.job.indicators = {"hadoop"};
    service::JobTable jobs(table);
    Writer(jobs, fmt::format("job-{:05}", job), options.events / options.jobs, ends).Write();
  }
}

std::uint64_t BytesIn(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    bytes += entry.file_size();
  }
  return bytes;
}

absl::StatusOr<RestartReport> MeasureRestart(const RestartOptions& options) {
  WriteJournal(options);
  RestartReport report{.events = options.events, .journal_bytes = BytesIn(options.directory)};
  std::vector<double> seconds;
  for (int i = 0; i < options.repetitions; ++i) {
    const absl::Time begin = absl::Now();
    const auto master = MasterProcess::Start(
        {options.tidemark, "serve", "--listen", "127.0.0.1:0", "--data-dir", options.directory},
        absl::Minutes(30));
    if (!master.ok()) return master.status();
    seconds.push_back(absl::ToDoubleSeconds(absl::Now() - begin));
  }
  report.median_s = Median(seconds);
  report.max_s = Quantile(seconds, 1);
  return report;
}

int Fail(const absl::Status& status) {
  fmt::print(stderr, "recovery: {}\n", status.ToString());
  return 1;
}

int Main(int argc, char** argv) {
  CLI::App app("Kills a master under load and measures its recovery.");
  app.option_defaults()->always_capture_default();
  CrashOptions crash;
  RestartOptions restart;
  std::string json;
  bool no_restart = false;
  crash.tidemark = std::filesystem::absolute(argv[0]).string();
  app.add_option("--tidemark", crash.tidemark, "Path of the server [this program]");
  app.add_option("--kills", crash.kills, "Number of kills");
  app.add_option("--seed", crash.seed, "Seed of the random instants of the kills");
  app.add_option("--jobs", restart.jobs, "Number of jobs in the restart");
  app.add_option("--running", restart.running, "Number of these jobs that are running");
  app.add_option("--events", restart.events, "Number of events in the restart");
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
