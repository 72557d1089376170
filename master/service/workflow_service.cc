#include "master/service/workflow_service.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/service/answer_when_durable.h"
#include "master/service/grpc_status.h"
#include "master/service/watch_stream.h"
#include "proto/wire/workflow_codec.h"

namespace tidemark::service {
namespace {

using WatchStream = BasicWatchStream<WorkflowSnapshot, v1::WatchWorkflowResponse>;
using Refused = RefusedWatch<v1::WatchWorkflowResponse>;

workflow::WhatIf WhatIfOf(const v1::EstimateWorkflowRequest& untrusted) {
  workflow::WhatIf what_if = {.slots = untrusted.slots()};
  if (untrusted.data_factor() != 0) what_if.data_factor = untrusted.data_factor();
  switch (untrusted.policy()) {
    case v1::SCHEDULING_POLICY_FIFO:
      what_if.policy = SchedulingPolicy::kFifo;
      break;
    case v1::SCHEDULING_POLICY_FAIR:
      what_if.policy = SchedulingPolicy::kFair;
      break;
    case v1::SCHEDULING_POLICY_DRF:
      what_if.policy = SchedulingPolicy::kDrf;
      break;
    case v1::SCHEDULING_POLICY_CAPACITY:
      what_if.policy = SchedulingPolicy::kCapacity;
      break;
    default:
      break;
  }
  return what_if;
}

}  // namespace

absl::StatusOr<Gate::AdmittedCall> WorkflowService::Ask(const grpc::CallbackServerContext& context,
                                                        Right right,
                                                        const std::vector<std::string>& ids) {
  absl::StatusOr<Gate::AdmittedCall> call = gate_.Ask(context);
  if (!call.ok()) return call;
  for (const std::string& id : ids) {
    if (absl::Status allowed = call->caller.Check(right, id); !allowed.ok()) {
      return gate_.Refuse(std::move(allowed), context.peer());
    }
  }
  return call;
}

absl::StatusOr<Journal::Mark> WorkflowService::Submit(const grpc::CallbackServerContext& context,
                                                      const v1::Workflow& untrusted) {
  // Whoever may watch the workflow sees its jobs, so the submitter must be allowed to report them.
  std::vector<std::string> ids = {untrusted.id()};
  for (const v1::WorkflowJob& job : untrusted.jobs()) {
    if (!job.job_id().empty()) ids.push_back(job.job_id());
  }
  const absl::StatusOr<Gate::AdmittedCall> call = Ask(context, Right::kReport, ids);
  if (!call.ok()) return call.status();
  const absl::StatusOr<WorkflowSpec> workflow = wire::ParseWorkflow(untrusted);
  if (!workflow.ok()) return workflow.status();
  const Sender sender = {.name_space = call->caller.NameSpaceOf(Right::kReport),
                         .reporter = call->caller.ReporterAt(HostOfPeer(context.peer()))};
  auto taken = workflows_.Submit(*workflow, sender, clock_.Now());
  if (absl::IsResourceExhausted(taken.status())) {
    return gate_.Refuse(taken.status(), context.peer());
  }
  return taken;
}

absl::StatusOr<Journal::Mark> WorkflowService::Attach(const grpc::CallbackServerContext& context,
                                                      const v1::AttachJobRequest& untrusted) {
  if (untrusted.job_id().empty() || untrusted.job_id().size() > 256) {
    return absl::InvalidArgumentError("job_id: send 1 to 256 bytes");
  }
  const absl::StatusOr<Gate::AdmittedCall> call =
      Ask(context, Right::kReport, {untrusted.workflow_id(), untrusted.job_id()});
  if (!call.ok()) return call.status();
  return workflows_.Attach(untrusted.workflow_id(), untrusted.job_name(), untrusted.job_id(),
                           clock_.Now());
}

absl::StatusOr<WorkflowSnapshot> WorkflowService::Estimate(
    const v1::EstimateWorkflowRequest& untrusted, const std::string& name_space) const {
  const workflow::WhatIf what_if = WhatIfOf(untrusted);
  if (!untrusted.workflow_id().empty()) {
    return workflows_.Estimate(untrusted.workflow_id(), what_if, clock_.Now());
  }
  const absl::StatusOr<WorkflowSpec> workflow = wire::ParseWorkflow(untrusted.workflow());
  if (!workflow.ok()) return workflow.status();
  // The caller must be allowed to read the history that it names.
  return workflows_.Estimate(*workflow, name_space, what_if, clock_.Now());
}

grpc::ServerUnaryReactor* WorkflowService::SubmitWorkflow(grpc::CallbackServerContext* context,
                                                          const v1::SubmitWorkflowRequest* request,
                                                          v1::SubmitWorkflowResponse*) {
  return AnswerWhenDurable::Start(workflows_.journal(), Submit(*context, request->workflow()));
}

grpc::ServerUnaryReactor* WorkflowService::AttachJob(grpc::CallbackServerContext* context,
                                                     const v1::AttachJobRequest* request,
                                                     v1::AttachJobResponse*) {
  return AnswerWhenDurable::Start(workflows_.journal(), Attach(*context, *request));
}

grpc::ServerUnaryReactor* WorkflowService::EstimateWorkflow(
    grpc::CallbackServerContext* context, const v1::EstimateWorkflowRequest* request,
    v1::EstimateWorkflowResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (request->workflow_id().empty() && !request->has_workflow()) {
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, "subject: send workflow_id or workflow"});
    return reactor;
  }
  const std::string& id =
      request->workflow_id().empty() ? request->workflow().id() : request->workflow_id();
  absl::StatusOr<Gate::AdmittedCall> call = Ask(*context, Right::kRead, {id});
  if (!call.ok()) {
    reactor->Finish(ToGrpc(call.status()));
    return reactor;
  }
  const std::string& key = call->meter.key();
  const absl::Status added =
      estimates_.Add(key, [=, this, name_space = call->caller.NameSpaceOf(Right::kRead)] {
        if (context->IsCancelled()) return reactor->Finish(grpc::Status::CANCELLED);
        const absl::Duration began = ThreadCpuTime();
        const absl::StatusOr<WorkflowSnapshot> snapshot = Estimate(*request, name_space);
        if (snapshot.ok()) wire::EncodeWorkflowSnapshot(*snapshot, *response->mutable_snapshot());
        gate_.Charge(key, ThreadCpuTime() - began);
        reactor->Finish(ToGrpc(snapshot.status()));
      });
  if (!added.ok()) reactor->Finish(ToGrpc(gate_.Refuse(added, context->peer())));
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchWorkflowResponse>* WorkflowService::WatchWorkflow(
    grpc::CallbackServerContext* context, const v1::WatchWorkflowRequest* request) {
  const std::string& id = request->workflow_id();
  absl::StatusOr<AdmittedStream> admitted = gate_.AdmitWatcher(*context);
  if (!admitted.ok()) return new Refused(admitted.status());
  if (absl::Status allowed = admitted->caller.Check(Right::kRead, id); !allowed.ok()) {
    return new Refused(gate_.Refuse(std::move(allowed), context->peer()));
  }
  const absl::StatusOr<ResumePoint> from =
      WatchFrom(request->after_sequence(), request->resume_token());
  if (!from.ok()) return new Refused(from.status());
  WatchStream* stream = WatchStream::Start(hub_, metrics_, *std::move(admitted), id, *from);
  stream->Begin([&] { return workflows_.Look(id); });
  return stream;
}

}  // namespace tidemark::service
