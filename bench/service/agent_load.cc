#include "bench/service/agent_load.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <queue>
#include <utility>

#include "absl/time/clock.h"
#include "proto/wire/encode_event.h"
#include "streaming/size_histogram.h"
#include "tidemark/event.h"
#include "transport/channel.h"

namespace tidemark::bench {
namespace {

class LoadStream final
    : public grpc::ClientBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
 public:
  LoadStream(const std::string& address, v1::StreamEventsRequest message,
             absl::Duration between_messages, std::latch& ended)
      : stub_(v1::IngestService::NewStub(OwnChannel(address))),
        request_(std::move(message)),
        between_messages_(between_messages),
        ended_(ended) {}

  void Start(absl::Time begin, absl::Time end) {
    begin_ = begin;
    end_ = end;
    stub_->async()->StreamEvents(&context_, this);
    StartRead(&response_);
    if (between_messages_ > absl::ZeroDuration()) {
      AddHold();
    } else {
      WriteNext();
    }
    StartCall();
  }

  // due() returns the time of the next message of a stream with a limited rate. Only one thread may
  // call due() and Pump().
  absl::Time due() const {
    return std::min(begin_ + static_cast<double>(sent_) * between_messages_, end_);
  }
  void Pump(absl::Time now) {
    if (writing_) return;
    if (now >= end_) {
      over_ = true;
      StartWritesDone();
      RemoveHold();
    } else {
      writing_ = true;
      Write();
    }
  }

  void OnWriteDone(bool ok) override {
    if (between_messages_ > absl::ZeroDuration()) {
      writing_ = false;
    } else if (ok) {
      WriteNext();
    }
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    accepted_ = std::max<std::uint64_t>(accepted_, response_.accepted_sequence());
    StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    failed_ = !status.ok();
    ended_.count_down();
  }

  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t sent() const { return sent_; }
  bool failed() const { return failed_; }
  bool over() const { return over_; }

 private:
  void WriteNext() {
    // Reading the clock for each message would add a cost that agents do not have.
    if (sent_ % 16 == 0 && absl::Now() >= end_) return StartWritesDone();
    Write();
  }
  void Write() {
    if (sent_ == 1) request_.clear_sources();
    request_.set_first_sequence(++sent_);
    if (sent_ % 16 == 1) request_.set_sent_at(absl::GetCurrentTimeNanos());
    StartWrite(&request_);
  }

  std::unique_ptr<v1::IngestService::Stub> stub_;
  grpc::ClientContext context_;
  v1::StreamEventsRequest request_;
  v1::StreamEventsResponse response_;
  const absl::Duration between_messages_;
  std::latch& ended_;
  absl::Time begin_;
  absl::Time end_;
  std::uint64_t sent_ = 0;
  std::uint64_t accepted_ = 0;
  bool over_ = false;
  std::atomic<bool> writing_ = false;
  bool failed_ = false;
};

// Wakes streams with a limited rate when their messages are due, until all streams have finished.
// Polling all streams would take processor time that the server needs.
void Pace(const std::vector<std::unique_ptr<LoadStream>>& streams) {
  constexpr absl::Duration kLookAgain = absl::Milliseconds(1);
  using Due = std::pair<absl::Time, LoadStream*>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> next;
  for (const auto& stream : streams) next.emplace(stream->due(), stream.get());
  while (!next.empty()) {
    const auto [due, stream] = next.top();
    const absl::Time now = absl::Now();
    if (due > now) {
      absl::SleepFor(std::max(due - now, kLookAgain));
      continue;
    }
    next.pop();
    stream->Pump(now);
    if (!stream->over()) next.emplace(std::max(stream->due(), now + kLookAgain), stream);
  }
}

}  // namespace

// Returns the first batch of a stream, which opens its source.
void OpenSource(const std::string& job_id, const std::string& source_id,
                v1::StreamEventsRequest& request) {
  v1::Source& source = *request.add_sources();
  source.set_source_id(source_id);
  source.set_job_id(job_id);
  request.set_sent_at(absl::GetCurrentTimeNanos());
}

std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

v1::StreamEventsRequest ProfileMessage(const std::string& job_id, std::uint32_t task,
                                       std::uint32_t points) {
  v1::StreamEventsRequest request;
  OpenSource(job_id, fmt::format("reduce-{}", task), request);
  v1::ReduceProfile& profile = *request.add_events()->mutable_reduce_profile();
  profile.mutable_attempt()->set_stage(kReduceStage);
  profile.mutable_attempt()->set_index(task);
  profile.set_reduce_nanos(1'000'000'000);
  streaming::SizeHistogram bins;
  std::uint64_t bytes_done = 0;
  const std::uint32_t groups = 100;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const std::uint64_t bytes = 64 + 97 * i;
    bytes_done += bytes;
    bins.Add(bytes, 1, absl::Nanoseconds(10'000 + 50 * bytes), 0);
    if (i >= points) continue;
    profile.add_point_bytes(bytes);
    profile.add_point_counts(1);
    profile.add_point_nanos(10'000 + 50 * bytes);
  }
  for (const GroupBin& bin : bins.bins()) {
    profile.add_bin_indexes(bin.bin);
    profile.add_bin_counts(bin.count);
    profile.add_bin_bytes(bin.size_bytes);
    profile.add_bin_seconds(bin.seconds);
    profile.add_bin_seconds_squared(bin.seconds_squared);
  }
  profile.set_groups_done(groups);
  profile.set_bytes_done(bytes_done);
  return request;
}

bool OpenJob(const std::shared_ptr<grpc::Channel>& channel, const std::string& job_id,
             std::uint32_t reduce_tasks) {
  const auto stub = v1::IngestService::NewStub(channel);
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  transport::AddJob(job_id, context);
  const auto stream = stub->StreamEvents(&context);
  v1::StreamEventsRequest request;
  OpenSource(job_id, "app-master", request);
  request.set_first_sequence(1);
  JobOpened opened;
  opened.stages = MapReduceStages(0, reduce_tasks);
  wire::EncodeBody(opened, *request.add_events());
  for (std::uint32_t task = 0; task < reduce_tasks; ++task) {
    for (const AttemptState state : {AttemptState::kStarted, AttemptState::kShuffled}) {
      const AttemptId attempt = {.stage = kReduceStage, .index = task};
      wire::EncodeBody(AttemptChanged{.attempt = attempt, .state = state}, *request.add_events());
    }
  }
  stream->Write(request);
  stream->WritesDone();
  v1::StreamEventsResponse response;
  while (stream->Read(&response)) continue;
  return stream->Finish().ok();
}

LoadResult RunLoad(const AgentLoad& load) {
  const std::uint32_t jobs = (load.streams + load.streams_per_job - 1) / load.streams_per_job;
  LoadResult result;
  const auto job_id = [&](std::uint32_t job) { return fmt::format("{}-{}", load.job_prefix, job); };
  {
    const auto channel = OwnChannel(load.address);
    for (std::uint32_t job = 0; job < jobs; ++job) {
      if (!OpenJob(channel, job_id(job), std::min(load.streams, load.streams_per_job))) {
        result.failed_streams = load.streams;
        return result;
      }
    }
  }
  std::latch ended(load.streams);  // counts the streams that are open
  const absl::Duration between_messages =
      load.messages_per_second > 0 ? absl::Seconds(load.streams / load.messages_per_second)
                                   : absl::ZeroDuration();
  std::vector<std::unique_ptr<LoadStream>> streams;
  for (std::uint32_t i = 0; i < load.streams; ++i) {
    streams.push_back(std::make_unique<LoadStream>(
        load.address,
        ProfileMessage(job_id(i / load.streams_per_job), i % load.streams_per_job, load.points),
        between_messages, ended));
  }
  const absl::Time begin = absl::Now();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    // Spreads the start times, also those within a job, since agents do not all start in the same
    // second.
    const double task = static_cast<double>(i % load.streams_per_job);
    const double job = static_cast<double>(i / load.streams_per_job) / jobs;
    const absl::Duration later = between_messages * ((task + job) / load.streams_per_job);
    streams[i]->Start(begin + later, begin + load.duration);
  }
  if (between_messages > absl::ZeroDuration()) Pace(streams);
  ended.wait();
  result.elapsed = absl::Now() - begin;
  for (const auto& stream : streams) {
    result.sent += stream->sent();
    result.messages += stream->accepted();
    result.failed_streams += stream->failed() ? 1 : 0;
  }
  return result;
}

struct IdleStreams::Stream {
  std::unique_ptr<v1::IngestService::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamEventsRequest, v1::StreamEventsResponse>> call;
};

IdleStreams::IdleStreams(const std::string& address, std::uint32_t streams,
                         std::uint32_t per_connection) {
  std::shared_ptr<grpc::Channel> channel;
  for (std::uint32_t i = 0; i < streams; ++i) {
    if (i % per_connection == 0) channel = OwnChannel(address);
    auto stream = std::make_unique<Stream>();
    stream->stub = v1::IngestService::NewStub(channel);
    stream->call = stream->stub->StreamEvents(&stream->context);
    v1::StreamEventsRequest request = ProfileMessage("idle", i, 1);
    request.set_first_sequence(1);
    v1::StreamEventsResponse response;
    stream->call->Write(request);
    stream->call->Read(&response);
    streams_.push_back(std::move(stream));
  }
}

IdleStreams::~IdleStreams() {
  for (auto& stream : streams_) stream->context.TryCancel();
  for (auto& stream : streams_) stream->call->Finish();
}

}  // namespace tidemark::bench
