#include "cli/workflow/workflow_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "cli/master_channel.h"
#include "proto/wire/workflow_codec.h"
#include "tidemark/v1/workflow_service.grpc.pb.h"
#include "transport/channel.h"

namespace tidemark::cli {

struct WorkflowClient::Stub {
  absl::Status usable;
  std::unique_ptr<v1::WorkflowService::Stub> service;  // if it is
};

WorkflowClient::WorkflowClient(const std::string& address, const ClientSecurity& security)
    : address_(address), security_(security), stub_(std::make_unique<Stub>()) {
  const auto channel = MasterChannel(address, security);
  stub_->usable = channel.status();
  if (channel.ok()) stub_->service = v1::WorkflowService::NewStub(*channel);
}
WorkflowClient::~WorkflowClient() = default;

template <typename Request, typename Response, typename Call>
absl::Status WorkflowClient::Ask(const Request& request, Response& response, Call call) const {
  if (!stub_->usable.ok()) return stub_->usable;
  grpc::ClientContext context;
  if (absl::Status token = transport::AddToken(address_, security_, context); !token.ok()) {
    return token;
  }
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  return FromGrpc((stub_->service.get()->*call)(&context, request, &response));
}

absl::StatusOr<bool> WorkflowClient::Knows(const std::string& workflow_id) const {
  v1::EstimateWorkflowRequest request;
  request.set_workflow_id(workflow_id);
  v1::EstimateWorkflowResponse response;
  const absl::Status status = Ask(request, response, &v1::WorkflowService::Stub::EstimateWorkflow);
  if (absl::IsNotFound(status)) return false;
  if (!status.ok()) return status;
  return true;
}

absl::Status WorkflowClient::Submit(const WorkflowSpec& workflow) const {
  v1::SubmitWorkflowRequest request;
  wire::EncodeWorkflow(workflow, *request.mutable_workflow());
  v1::SubmitWorkflowResponse response;
  return Ask(request, response, &v1::WorkflowService::Stub::SubmitWorkflow);
}

absl::Status WorkflowClient::Attach(const std::string& workflow_id, const std::string& job_name,
                                    const std::string& job_id) const {
  v1::AttachJobRequest request;
  request.set_workflow_id(workflow_id);
  request.set_job_name(job_name);
  request.set_job_id(job_id);
  v1::AttachJobResponse response;
  return Ask(request, response, &v1::WorkflowService::Stub::AttachJob);
}

absl::StatusOr<WorkflowSnapshot> WorkflowClient::Estimate(const WorkflowSpec& workflow,
                                                          std::uint32_t slots,
                                                          double data_factor) const {
  v1::EstimateWorkflowRequest request;
  wire::EncodeWorkflow(workflow, *request.mutable_workflow());
  request.set_slots(slots);
  request.set_data_factor(data_factor);
  v1::EstimateWorkflowResponse response;
  absl::Status status = Ask(request, response, &v1::WorkflowService::Stub::EstimateWorkflow);
  if (!status.ok()) return status;
  return wire::ParseWorkflowSnapshot(response.snapshot());
}

absl::Status WorkflowClient::Watch(const std::string& workflow_id, std::uint64_t after_sequence,
                                   const std::function<bool(const WorkflowSnapshot&)>& on_snapshot,
                                   const std::stop_token& stop) const {
  if (!stub_->usable.ok()) return stub_->usable;
  grpc::ClientContext context;
  if (absl::Status token = transport::AddToken(address_, security_, context); !token.ok()) {
    return token;
  }
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1::WatchWorkflowRequest request;
  request.set_workflow_id(workflow_id);
  request.set_after_sequence(after_sequence);
  const auto stream = stub_->service->WatchWorkflow(&context, request);
  return ReadStream<v1::WatchWorkflowResponse>(
      context, *stream, [&](const v1::WatchWorkflowResponse& response) {
        const auto snapshot = wire::ParseWorkflowSnapshot(response.snapshot());
        if (!snapshot.ok()) return snapshot.status();
        return on_snapshot(*snapshot) ? absl::OkStatus()
                                      : absl::CancelledError("nobody watches any more");
      });
}

absl::StatusOr<WorkflowSnapshot> WorkflowClient::Follow(const std::string& workflow_id,
                                                        const FollowOptions& options,
                                                        const WorkflowFollowCalls& calls,
                                                        const std::stop_token& stop) const {
  const auto watch = [&](std::uint64_t after_sequence,
                         const std::function<bool(const WorkflowSnapshot&)>& on_snapshot,
                         const std::stop_token& until) {
    return Watch(workflow_id, after_sequence, on_snapshot, until);
  };
  return Follower<WorkflowSnapshot>(watch, address_, "workflow", options, calls).Follow(stop);
}

}  // namespace tidemark::cli
