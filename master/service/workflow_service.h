// WorkflowService over a WorkflowTable and a hub of its watchers. Knows no formula.
#pragma once

#include "master/service/clock.h"
#include "master/service/estimate_queue.h"
#include "master/service/gate.h"
#include "master/service/metrics.h"
#include "master/service/watch_hub.h"
#include "master/service/workflow_table.h"
#include "tidemark/v1/workflow_service.grpc.pb.h"

namespace tidemark::service {

class WorkflowService final : public v1::WorkflowService::CallbackService {
 public:
  // All outlive the service.
  WorkflowService(WorkflowTable& workflows, WorkflowHub& hub, const Clock& clock, Gate& gate,
                  Metrics& metrics)
      : workflows_(workflows), hub_(hub), clock_(clock), gate_(gate), metrics_(metrics) {}

  grpc::ServerUnaryReactor* SubmitWorkflow(grpc::CallbackServerContext* context,
                                           const v1::SubmitWorkflowRequest* request,
                                           v1::SubmitWorkflowResponse* response) override;
  grpc::ServerUnaryReactor* AttachJob(grpc::CallbackServerContext* context,
                                      const v1::AttachJobRequest* request,
                                      v1::AttachJobResponse* response) override;
  grpc::ServerUnaryReactor* EstimateWorkflow(grpc::CallbackServerContext* context,
                                             const v1::EstimateWorkflowRequest* request,
                                             v1::EstimateWorkflowResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchWorkflowResponse>* WatchWorkflow(
      grpc::CallbackServerContext* context, const v1::WatchWorkflowRequest* request) override;

 private:
  absl::StatusOr<Journal::Mark> Submit(const grpc::CallbackServerContext& context,
                                       const v1::Workflow& untrusted);
  absl::StatusOr<Journal::Mark> Attach(const grpc::CallbackServerContext& context,
                                       const v1::AttachJobRequest& untrusted);
  // `name_space`: which ids the call might ask for.
  absl::StatusOr<WorkflowSnapshot> Estimate(const v1::EstimateWorkflowRequest& untrusted,
                                            const std::string& name_space) const;
  // Who calls, if they have the right to each of `ids`.
  absl::StatusOr<Gate::AdmittedCall> Ask(const grpc::CallbackServerContext& context, Right right,
                                         const std::vector<std::string>& ids);

  WorkflowTable& workflows_;
  WorkflowHub& hub_;
  const Clock& clock_;
  Gate& gate_;
  Metrics& metrics_;
  EstimateQueue estimates_;
};

}  // namespace tidemark::service
