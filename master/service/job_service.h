// JobService, which serves the published snapshots, the tables of jobs and workflows, and requested
// estimates. It computes no estimates itself.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "master/service/gate.h"
#include "master/service/job_stream.h"
#include "master/service/job_table.h"
#include "master/service/journal.h"
#include "master/service/workflow_table.h"
#include "proto/wire/job_codec.h"
#include "tidemark/job_tasks.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Answers a call after its changes are durable. No thread blocks meanwhile.
class AnswerWhenDurable final : public grpc::ServerUnaryReactor,
                                public Journal::Waiter,
                                public std::enable_shared_from_this<AnswerWhenDurable> {
 public:
  static AnswerWhenDurable* Start(Journal& journal, const absl::StatusOr<Journal::Mark>& done) {
    const auto answer = Create();
    answer->Done(journal, done);
    return answer.get();
  }
  // Computes the answer. If this would block, returns nullopt, and later calls `again` once, on any
  // thread, when it should run again.
  using Work = std::function<std::optional<absl::StatusOr<Journal::Mark>>(
      const std::function<void()>& again)>;
  // Answers with the result of `work`, which runs in turn for `key`. The call is not finished
  // before `work` has returned a result, since gRPC frees the request and the response when the
  // call finishes.
  static AnswerWhenDurable* StartInTurn(transport::TurnQueue& turns, const std::string& key,
                                        Journal& journal, const Work& work) {
    const auto answer = Create();
    answer->state_ = State::kPending;
    answer->AddTurn(turns, key, journal, work);
    return answer.get();
  }

  void OnDurable(Journal::Position) override { Answer(grpc::Status::OK); }
  void OnStalled(const absl::Status& why) override { Answer(ToGrpc(JournalFails(why))); }
  void OnCancel() override {
    State pending = State::kPending;
    if (state_.compare_exchange_strong(pending, State::kCancelled)) return;
    Answer(grpc::Status::CANCELLED);
  }
  void OnDone() override { self_.reset(); }

 private:
  // State of work that runs in turn.
  enum class State { kDone, kPending, kCancelled };

  AnswerWhenDurable() = default;
  // The object lives until OnDone, and while the journal may call it.
  static std::shared_ptr<AnswerWhenDurable> Create() {
    auto answer = std::shared_ptr<AnswerWhenDurable>(new AnswerWhenDurable());
    answer->self_ = answer;
    return answer;
  }
  void AddTurn(transport::TurnQueue& turns, const std::string& key, Journal& journal,
               const Work& work) {
    turns.Add(key, [self = shared_from_this(), &turns, key, &journal, work] {
      if (self->state_ == State::kCancelled) return self->Answer(grpc::Status::CANCELLED);
      const auto done =
          work([self, &turns, key, &journal, work] { self->AddTurn(turns, key, journal, work); });
      if (!done) return;
      const bool is_cancelled = self->state_.exchange(State::kDone) == State::kCancelled;
      if (is_cancelled) return self->Answer(grpc::Status::CANCELLED);
      self->Done(journal, *done);
    });
  }
  void Done(Journal& journal, const absl::StatusOr<Journal::Mark>& done) {
    if (done.ok()) {
      journal.NotifyWhenDurable(*done, shared_from_this());
    } else {
      Answer(ToGrpc(done.status()));
    }
  }
  void Answer(grpc::Status status) {
    if (!answered_.exchange(true)) Finish(std::move(status));
  }

  std::atomic<State> state_ = State::kDone;
  std::atomic<bool> answered_ = false;
  std::shared_ptr<AnswerWhenDurable> self_;
};

// Keeps at most `most` running attempts in the list and removes all others. Sorts attempts by
// predicted end, latest first; attempts with an unknown end follow, sorted by start time. O(n log
// n) for n attempts.
void SelectRunning(std::size_t most, JobTasks& list);

struct ServerInfo {
  std::string version;
  std::string instance;
  std::map<std::string, std::uint64_t> limits;
};

class JobService final
    : public v1::JobService::WithRawCallbackMethod_WatchJob<
          v1::JobService::WithRawCallbackMethod_WatchJobs<v1::JobService::CallbackService>> {
 public:
  // All arguments must outlive the service.
  JobService(const Publishing& publishing, JobTable& jobs, WorkflowTable& workflows,
             ServerInfo info)
      : publishing_(publishing), jobs_(jobs), workflows_(workflows), info_(std::move(info)) {}

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override {
    absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {request->job_id()});
    if (!call.ok()) return Answer(*context, call.status());
    return AnswerInTurn(*context, *std::move(call), [=, this](const Caller& caller) {
      response->set_may_report(
          store::IsWithin(request->job_id(), caller.NameSpaceOf(Right::kReport)));
      return Get(*request, *response);
    });
  }
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override {
    absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {});
    if (!call.ok()) return Answer(*context, call.status());
    return AnswerInTurn(*context, *std::move(call), [=, this](const Caller& caller) {
      return List(caller, *request, *response);
    });
  }
  ByteStream* WatchJob(grpc::CallbackServerContext* context,
                       const grpc::ByteBuffer* request) override {
    return service::WatchJob(publishing_, *context, *request);
  }
  ByteStream* WatchJobs(grpc::CallbackServerContext* context,
                        const grpc::ByteBuffer* request) override {
    return service::WatchJobs(publishing_, *context, *request);
  }
  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobResponse*) override {
    return AnswerWhenDurable::Start(workflows_.journal(), Submit(*context, request->plan()));
  }
  grpc::ServerUnaryReactor* AttachJob(grpc::CallbackServerContext* context,
                                      const v1::AttachJobRequest* request,
                                      v1::AttachJobResponse*) override {
    return AnswerWhenDurable::Start(workflows_.journal(), Attach(*context, *request));
  }
  grpc::ServerUnaryReactor* UpdateJob(grpc::CallbackServerContext* context,
                                      const v1::UpdateJobRequest* request,
                                      v1::UpdateJobResponse*) override {
    return AnswerWhenDurable::Start(workflows_.journal(), Update(*context, *request));
  }
  grpc::ServerUnaryReactor* SetDeadline(grpc::CallbackServerContext* context,
                                        const v1::SetDeadlineRequest* request,
                                        v1::SetDeadlineResponse*) override {
    const absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kReport, {request->job_id()});
    if (!call.ok()) return Answer(*context, call.status());
    return AnswerDurably(*context, *call, [=, this](const std::function<void()>& again) {
      return SetDeadlineOf(*request, again);
    });
  }
  grpc::ServerUnaryReactor* ForgetJob(grpc::CallbackServerContext* context,
                                      const v1::ForgetJobRequest* request,
                                      v1::ForgetJobResponse*) override {
    return AnswerWhenDurable::Start(workflows_.journal(), Forget(*context, *request));
  }
  grpc::ServerUnaryReactor* EstimateJob(grpc::CallbackServerContext* context,
                                        const v1::EstimateJobRequest* request,
                                        v1::EstimateJobResponse* response) override;
  grpc::ServerUnaryReactor* ListTasks(grpc::CallbackServerContext* context,
                                      const v1::ListTasksRequest* request,
                                      v1::ListTasksResponse* response) override;
  grpc::ServerUnaryReactor* ListForecasts(grpc::CallbackServerContext* context,
                                          const v1::ListForecastsRequest* request,
                                          v1::ListForecastsResponse* response) override {
    const absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {request->job_id()});
    if (!call.ok()) return Answer(*context, call.status());
    return AnswerDurably(*context, *call, [=, this](const std::function<void()>& again) {
      return Forecasts(*request, again, *response);
    });
  }
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;

  // Adds a feature to GetServerInfo. Thread-safe.
  void AddFeature(std::string feature) {
    const std::lock_guard lock(features_mutex_);
    features_.push_back(std::move(feature));
  }

 private:
  using Mark = Journal::Mark;
  using AdmittedCall = Gate::AdmittedCall;

  static grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context,
                                          const absl::Status& status) {
    grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  // Answers an admitted call with the status of `work`, on a thread of answers_, since encoding a
  // large snapshot must not block one of gRPC's few threads.
  template <typename Work>
  grpc::ServerUnaryReactor* AnswerInTurn(grpc::CallbackServerContext& context, AdmittedCall call,
                                         Work work) {
    grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    answers_.Add(PeerOfCall(context), [this, reactor, caller = call.caller, key = call.meter.key(),
                                       work = std::move(work)] {
      const absl::Duration began = ThreadCpuTime();
      const absl::Status done = work(caller);
      publishing_.gate.Charge(key, ThreadCpuTime() - began);
      reactor->Finish(ToGrpc(done));
    });
    return reactor;
  }

  // Answers an admitted call with the result of `work` (AnswerWhenDurable::Work), on a thread of
  // answers_.
  template <typename Work>
  grpc::ServerUnaryReactor* AnswerDurably(const grpc::CallbackServerContext& context,
                                          const AdmittedCall& call, Work work) {
    return AnswerWhenDurable::StartInTurn(
        answers_, PeerOfCall(context), jobs_.journal(),
        [this, key = call.meter.key(), work = std::move(work)](const auto& again) {
          const Gate::Meter meter(publishing_.gate, key);
          return work(again);
        });
  }
  // Answers a call with the status of `work`, which runs on the thread of estimates. Charges the
  // processor time to the caller with `key`.
  grpc::ServerUnaryReactor* Later(grpc::CallbackServerContext& context, const std::string& key,
                                  std::function<absl::Status()> work);
  // These functions implement the calls of the same names.
  absl::Status Get(const v1::GetJobRequest& untrusted, v1::GetJobResponse& response);
  absl::Status List(const Caller& caller, const v1::ListJobsRequest& untrusted,
                    v1::ListJobsResponse& response);
  absl::StatusOr<Mark> Submit(const grpc::CallbackServerContext& context,
                              const v1::Plan& untrusted);
  absl::StatusOr<Mark> Attach(const grpc::CallbackServerContext& context,
                              const v1::AttachJobRequest& untrusted);
  absl::StatusOr<Mark> Update(const grpc::CallbackServerContext& context,
                              const v1::UpdateJobRequest& untrusted);
  absl::StatusOr<Mark> Forget(const grpc::CallbackServerContext& context,
                              const v1::ForgetJobRequest& untrusted);
  // The next three functions return nullopt if the job is busy, and then call `when_free`
  // (JobTable::ListTasks()).
  std::optional<absl::StatusOr<Mark>> SetDeadlineOf(const v1::SetDeadlineRequest& untrusted,
                                                    const std::function<void()>& when_free);
  std::optional<absl::StatusOr<Mark>> Tasks(const v1::ListTasksRequest& untrusted,
                                            const std::function<void()>& when_free,
                                            v1::ListTasksResponse& response) const;
  std::optional<absl::StatusOr<Mark>> Forecasts(const v1::ListForecastsRequest& untrusted,
                                                const std::function<void()>& when_free,
                                                v1::ListForecastsResponse& response);
  // `name_space` contains the IDs that the caller may read.
  absl::Status Estimate(const v1::EstimateJobRequest& untrusted, const std::string& name_space,
                        const std::function<bool()>& is_cancelled,
                        v1::EstimateJobResponse& response) const;
  // Estimates a job that is not a running workflow.
  absl::Status EstimateAlone(const Snapshot& newest, const std::vector<Scenario>& scenarios,
                             absl::Time now, v1::EstimateJobResponse& response) const;
  absl::StatusOr<dag::LiveWorkflow> MakeHypothetical(const v1::Plan& untrusted,
                                                     const std::string& name_space,
                                                     absl::Time now) const;
  // Authenticates the caller and checks its right to each of `ids`.
  absl::StatusOr<AdmittedCall> Ask(const grpc::CallbackServerContext& context, Right right,
                                   const std::vector<std::string>& ids);

  const Publishing publishing_;
  JobTable& jobs_;
  WorkflowTable& workflows_;
  std::mutex features_mutex_;
  std::vector<std::string> features_;
  const ServerInfo info_;
  transport::TurnQueue estimates_{1, 0, kEstimateLimits};  // by caller
  transport::TurnQueue answers_{2, transport::kNice};      // by connection
};

}  // namespace tidemark::service
