#include "bench/service/steady_agents.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <utility>

#include "absl/time/clock.h"
#include "agent/connection.h"
#include "bench/service/agent_load.h"
#include "transport/channel.h"

namespace tidemark::bench {
namespace {

constexpr absl::Duration kLookAgain = absl::Milliseconds(2);
constexpr absl::Duration kLast = absl::Minutes(1);  // limit of the final wait for acknowledgements

class SteadyAgent;

// Agents with due messages, and a signal for the thread that sends them.
class Bell {
 public:
  void Ring(SteadyAgent* agent) {
    const std::lock_guard lock(mutex_);
    agents_.push_back(agent);
  }
  std::vector<SteadyAgent*> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(agents_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<SteadyAgent*> agents_;
};

class SteadyAgent {
 public:
  SteadyAgent(const SteadyLoad& load, std::string job_id, std::uint32_t task, absl::Time begin,
              Bell& bell)
      : job_id_(std::move(job_id)),
        between_(load.between_messages),
        begin_(begin),
        bell_(bell),
        stub_(v1::IngestService::NewStub(OwnChannel(load.address))),
        request_(ProfileMessage(job_id_, task, load.points)),
        sources_(request_.sources()),
        backoff_(task) {}

  // Does the work that is due. Returns the time of the next work, or InfiniteFuture() if the bell
  // will ring. Only one thread may call this function.
  absl::Time Step(absl::Time now, absl::Time end) {
    if (over_) return absl::InfiniteFuture();
    if (now < begin_) return begin_;
    if (call_ != nullptr && call_->ended) NoteEnd(now);
    if (call_ == nullptr && now < retry_at_) return retry_at_;
    if (call_ == nullptr) Open();
    if (call_->writing || call_->has_failed()) return absl::InfiniteFuture();
    const std::uint64_t due = DueAt(std::min(now, end));
    if (next_ <= due) {
      Write();
      return absl::InfiniteFuture();
    }
    if (now < end) return begin_ + static_cast<double>(due) * between_;
    if (accepted_ < due && now < end + kLast) return now + absl::Milliseconds(100);
    over_ = true;
    call_->Finish();
    return absl::InfiniteFuture();
  }
  bool is_over() const { return over_ && call_->ended; }
  void Cancel() {
    if (call_ != nullptr) call_->context.TryCancel();
  }

  SteadyAgentFate fate() const {
    return {.sent = sent_,
            .acknowledged = accepted_,
            .refused = refused_,
            .breaks = breaks_,
            .back_at = back_at_};
  }
  const std::string& job_id() const { return job_id_; }

 private:
  struct Call final : grpc::ClientBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse> {
    explicit Call(SteadyAgent& caller) : of(caller) {}
    void OnWriteDone(bool) override {
      writing = false;
      of.bell_.Ring(&of);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return Release();
      answered = true;
      of.NoteAnswer(response);
      StartRead(&response);
    }
    void OnDone(const grpc::Status&) override {
      ended = true;
      of.bell_.Ring(&of);
    }
    // Has no effect if the call has failed.
    void Send(const v1::StreamEventsRequest* request) {
      const std::lock_guard lock(mutex_);
      if (released_) return;
      writing = true;
      StartWrite(request);
    }
    void Finish() {
      const std::lock_guard lock(mutex_);
      if (std::exchange(released_, true)) return;
      StartWritesDone();
      RemoveHold();
    }
    bool has_failed() {
      const std::lock_guard lock(mutex_);
      return released_;
    }

    SteadyAgent& of;
    grpc::ClientContext context;
    v1::StreamEventsResponse response;
    std::atomic<bool> writing = false;
    std::atomic<bool> answered = false;
    std::atomic<bool> ended = false;

   private:
    // Ends the call, since no more responses will arrive.
    void Release() {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(released_, true)) RemoveHold();
    }
    std::mutex mutex_;
    bool released_ = false;  // guarded by the mutex
  };

  // Returns the number of messages of an agent that are due.
  std::uint64_t DueAt(absl::Time now) const {
    return now < begin_
               ? 0
               : static_cast<std::uint64_t>(absl::FDivDuration(now - begin_, between_)) + 1;
  }

  void Open() {
    call_ = std::make_unique<Call>(*this);
    transport::AddJob(job_id_, call_->context);
    stub_->async()->StreamEvents(&call_->context, call_.get());
    call_->AddHold();
    call_->StartRead(&call_->response);
    call_->StartCall();
    is_first_ = true;
    next_ = accepted_ + 1;
  }

  void Write() {
    request_.clear_sources();
    if (is_first_) *request_.mutable_sources() = sources_;
    is_first_ = false;
    request_.set_sent_at(absl::GetCurrentTimeNanos());
    request_.set_first_sequence(next_);
    sent_ = std::max(sent_, next_);
    ++next_;
    call_->Send(&request_);
  }

  void NoteEnd(absl::Time now) {
    ++breaks_;
    is_away_ = true;
    if (call_->answered) backoff_.Reset();
    retry_at_ = now + backoff_.Next();
    call_.reset();
  }

  void NoteAnswer(const v1::StreamEventsResponse& response) {
    accepted_ = std::max<std::uint64_t>(accepted_, response.accepted_sequence());
    refused_ +=
        response.unnamed_rejections() + static_cast<std::uint64_t>(response.rejections_size());
    if (is_away_.exchange(false)) back_at_ = absl::Now();
  }

  const std::string job_id_;
  const absl::Duration between_;
  const absl::Time begin_;
  Bell& bell_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  v1::StreamEventsRequest request_;
  const google::protobuf::RepeatedPtrField<v1::Source> sources_;
  agent::Backoff backoff_;
  std::unique_ptr<Call> call_;
  absl::Time retry_at_ = absl::InfinitePast();
  bool is_first_ = true;
  bool over_ = false;
  std::uint64_t next_ = 1;
  std::uint64_t sent_ = 0;
  std::uint64_t breaks_ = 0;
  std::atomic<std::uint64_t> accepted_ = 0;
  std::uint64_t refused_ = 0;
  std::atomic<bool> is_away_ = false;
  absl::Time back_at_ = absl::InfinitePast();
};

// Sends messages when they are due, until all agents have sent all messages.
void Pace(const std::vector<std::unique_ptr<SteadyAgent>>& agents, Bell& bell, absl::Time end) {
  using Due = std::pair<absl::Time, SteadyAgent*>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> next;
  const auto step = [&](SteadyAgent* agent) {
    const absl::Time due = agent->Step(absl::Now(), end);
    if (due < absl::InfiniteFuture()) next.emplace(due, agent);
  };
  for (const auto& agent : agents) step(agent.get());
  const auto is_over = [&] {
    return std::all_of(agents.begin(), agents.end(),
                       [](const auto& agent) { return agent->is_over(); });
  };
  bool cancelled = false;
  while (absl::Now() < end || !is_over()) {
    for (SteadyAgent* agent : bell.Take()) step(agent);
    while (!next.empty() && next.top().first <= absl::Now()) {
      SteadyAgent* const agent = next.top().second;
      next.pop();
      step(agent);
    }
    absl::SleepFor(kLookAgain);
    if (!cancelled && absl::Now() > end + 2 * kLast) {
      cancelled = true;
      for (const auto& agent : agents) agent->Cancel();
    }
  }
}

}  // namespace

std::vector<SteadyJobFate> RunSteadyLoad(const SteadyLoad& load) {
  std::vector<SteadyJobFate> jobs((load.agents + load.agents_per_job - 1) / load.agents_per_job);
  {
    const auto channel = OwnChannel(load.address);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i].job_id = fmt::format("{}-{}", load.job_prefix, i);
      jobs[i].is_open = OpenJob(channel, jobs[i].job_id, load.agents_per_job);
    }
  }
  Bell bell;
  const absl::Time begin = absl::Now();
  std::vector<std::unique_ptr<SteadyAgent>> agents;
  for (std::uint32_t i = 0; i < load.agents; ++i) {
    // Agents of a job start at different times within a second.
    const absl::Duration later = load.opening * (static_cast<double>(i) / load.agents);
    agents.push_back(std::make_unique<SteadyAgent>(load, jobs[i / load.agents_per_job].job_id,
                                                   i % load.agents_per_job, begin + later, bell));
  }
  Pace(agents, bell, begin + load.duration);
  for (std::uint32_t i = 0; i < load.agents; ++i) {
    jobs[i / load.agents_per_job].agents.push_back(agents[i]->fate());
  }
  return jobs;
}

}  // namespace tidemark::bench
