// JobService over what is published, the tables of jobs and plans, and the estimates that are asked
// for. Knows no formula.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "master/service/answer_when_durable.h"
#include "master/service/estimate_queue.h"
#include "master/service/gate.h"
#include "master/service/grpc_status.h"
#include "master/service/job_stream.h"
#include "master/service/job_table.h"
#include "master/service/workflow_table.h"
#include "proto/wire/job_request.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// What GetServerInfo says.
struct ServerInfo {
  std::string version;
  std::string instance;
  std::map<std::string, std::uint64_t> limits;
};

class JobService final
    : public v1::JobService::WithRawCallbackMethod_WatchJob<
          v1::JobService::WithRawCallbackMethod_WatchJobs<v1::JobService::CallbackService>> {
 public:
  // All outlive the service.
  JobService(const Publishing& publishing, JobTable& jobs, WorkflowTable& workflows,
             ServerInfo info)
      : publishing_(publishing), jobs_(jobs), workflows_(workflows), info_(std::move(info)) {}

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override {
    absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {request->job_id()});
    if (!call.ok()) return Answer(*context, call.status());
    return AnswerInTurn(*context, *std::move(call),
                        [=, this](const Caller&) { return Get(*request, *response); });
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
    return AnswerWhenDurable::StartInTurn(
        answers_, context->peer(), jobs_.journal(),
        [=, this, key = call->meter.key()]() -> absl::StatusOr<Mark> {
          const absl::Duration began = ThreadCpuTime();
          absl::StatusOr<Mark> mark = Forecasts(*request, *response);
          publishing_.gate.Charge(key, ThreadCpuTime() - began);
          return mark;
        });
  }
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;

  // For GetServerInfo. Thread-safe.
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
  // Answers a call that was admitted with the status of `work`, on a thread of answers_: encoding a
  // large snapshot, or waiting for a running estimate, must not block one of gRPC's few threads.
  template <typename Work>
  grpc::ServerUnaryReactor* AnswerInTurn(grpc::CallbackServerContext& context, AdmittedCall call,
                                         Work work) {
    grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    answers_.Add(context.peer(), [this, reactor, caller = call.caller, key = call.meter.key(),
                                  work = std::move(work)] {
      const absl::Duration began = ThreadCpuTime();
      const absl::Status done = work(caller);
      publishing_.gate.Charge(key, ThreadCpuTime() - began);
      reactor->Finish(ToGrpc(done));
    });
    return reactor;
  }

  // Answers a call with the status of `work`, which the thread of the estimates does soon, and
  // charges its processor time to the caller with `key`.
  grpc::ServerUnaryReactor* Later(grpc::CallbackServerContext& context, const std::string& key,
                                  std::function<absl::Status()> work);
  // Each does what the call of that name asks for.
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
  absl::StatusOr<Mark> Tasks(const v1::ListTasksRequest& untrusted,
                             v1::ListTasksResponse& response) const;
  absl::StatusOr<Mark> Forecasts(const v1::ListForecastsRequest& untrusted,
                                 v1::ListForecastsResponse& response);
  // `name_space`: which ids the call might ask for.
  absl::Status Estimate(const v1::EstimateJobRequest& untrusted, const std::string& name_space,
                        const std::function<bool()>& is_cancelled,
                        v1::EstimateJobResponse& response) const;
  // Of one that is no workflow that runs.
  absl::Status EstimateAlone(const Snapshot& newest, const std::vector<Scenario>& scenarios,
                             absl::Time now, v1::EstimateJobResponse& response) const;
  absl::StatusOr<workflow::LiveWorkflow> Imagine(const v1::Plan& untrusted,
                                                 const std::string& name_space,
                                                 absl::Time now) const;
  // Who calls, if they have the right to each of `ids`.
  absl::StatusOr<AdmittedCall> Ask(const grpc::CallbackServerContext& context, Right right,
                                   const std::vector<std::string>& ids);

  const Publishing publishing_;
  JobTable& jobs_;
  WorkflowTable& workflows_;
  std::mutex features_mutex_;
  std::vector<std::string> features_;
  const ServerInfo info_;
  EstimateQueue estimates_;
  transport::TurnQueue answers_{2, transport::kNice};  // by connection
};

}  // namespace tidemark::service
