#include "bench/service/crash.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/clock.h"
#include "bench/service/agent_load.h"
#include "bench/service/master_process.h"
#include "master/store/event_log.h"
#include "proto/wire/encode_event.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::bench {
namespace {

constexpr absl::Duration kRestartTimeout = absl::Seconds(60);
constexpr absl::Duration kEndTimeout = absl::Seconds(60);
constexpr std::uint32_t kMapTasks = 1000;
// Largest number of unacknowledged events per stream.
constexpr std::uint64_t kWindow = 200;

std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 10);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Returns the event of a sequence, always the same one.
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

// A source that sends continuously, survives its master, and records acknowledgements.
class Sender {
 public:
  Sender(std::string job_id, std::string source_id, std::string address)
      : job_id_(std::move(job_id)),
        source_id_(std::move(source_id)),
        address_(std::move(address)),
        thread_([this] { Run(); }) {}
  ~Sender() { Stop(); }

  // Stops sending. Returns when all sent events are acknowledged or Cancel() was called.
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

  // Resends unacknowledged events and continues until the stream breaks.
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

// Watches one job continuously: no sequence may return with another snapshot.
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
    std::sort(restarts_.begin(), restarts_.end());
    if (!restarts_.empty()) {
      report_.restart_median_s = restarts_[restarts_.size() / 2];
      report_.restart_max_s = restarts_.back();
    }
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
    // Sometimes kills it again during its recovery.
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

  // Runs some jobs from opening to end.
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

  // Closes the job. Its final snapshot must be complete.
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

  // Every acknowledged event must be stored unchanged, exactly once.
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

}  // namespace

absl::StatusOr<CrashReport> Crash(const CrashOptions& options) { return Crasher(options).Run(); }

}  // namespace tidemark::bench
