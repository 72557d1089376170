#include "cli/master_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "cli/master_channel.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "proto/wire/snapshot_codec.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/progress_service.grpc.pb.h"
#include "transport/channel.h"

namespace tidemark::cli {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

struct MasterClient::Stub {
  absl::Status usable;
  // If it is.
  std::unique_ptr<v1::ProgressService::Stub> service;
  std::unique_ptr<grpc::health::v1::Health::Stub> health;
};

MasterClient::MasterClient(const std::string& address, const ClientSecurity& security)
    : address_(address), security_(security), stub_(std::make_unique<Stub>()) {
  const auto channel = MasterChannel(address, security);
  stub_->usable = channel.status();
  if (!channel.ok()) return;
  stub_->service = v1::ProgressService::NewStub(*channel);
  stub_->health = grpc::health::v1::Health::NewStub(*channel);
}
MasterClient::~MasterClient() = default;

absl::Status MasterClient::Prepare(grpc::ClientContext& context) const {
  if (!stub_->usable.ok()) return stub_->usable;
  return transport::AddToken(address_, security_, context);
}

absl::StatusOr<bool> MasterClient::TakesReports() const {
  if (!stub_->usable.ok()) return stub_->usable;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  HealthCheckRequest request;
  request.set_service(v1::IngestService::service_full_name());
  HealthCheckResponse response;
  const grpc::Status status = stub_->health->Check(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return response.status() == HealthCheckResponse::SERVING;
}

absl::StatusOr<Snapshot> MasterClient::GetJob(const std::string& job_id,
                                              std::stop_token stop) const {
  grpc::ClientContext context;
  if (absl::Status ready = Prepare(context); !ready.ok()) return ready;
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1::GetJobRequest request;
  request.set_job_id(job_id);
  v1::GetJobResponse response;
  const grpc::Status status = stub_->service->GetJob(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return wire::ParseSnapshot(response.snapshot());
}

absl::StatusOr<std::vector<Snapshot>> MasterClient::ListJobs(std::stop_token stop) const {
  std::vector<Snapshot> jobs;
  v1::ListJobsRequest request;
  do {
    grpc::ClientContext context;
    if (absl::Status ready = Prepare(context); !ready.ok()) return ready;
    context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    v1::ListJobsResponse response;
    const grpc::Status status = stub_->service->ListJobs(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    for (const v1::Snapshot& message : response.snapshots()) {
      absl::StatusOr<Snapshot> snapshot = wire::ParseSnapshot(message);
      if (!snapshot.ok()) return snapshot.status();
      jobs.push_back(*std::move(snapshot));
    }
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return jobs;
}

absl::Status MasterClient::WatchJob(const std::string& job_id, const std::string& run_uid,
                                    std::uint64_t after_sequence,
                                    const std::function<bool(const Snapshot&)>& on_snapshot,
                                    std::stop_token stop) const {
  grpc::ClientContext context;
  if (absl::Status ready = Prepare(context); !ready.ok()) return ready;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1::WatchJobRequest request;
  request.set_job_id(job_id);
  request.set_run_uid(run_uid);
  request.set_after_sequence(after_sequence);
  const auto stream = stub_->service->WatchJob(&context, request);
  return ReadStream<v1::WatchJobResponse>(
      context, *stream, [&](const v1::WatchJobResponse& response) {
        const absl::StatusOr<Snapshot> snapshot = wire::ParseSnapshot(response.snapshot());
        if (!snapshot.ok()) return snapshot.status();
        return on_snapshot(*snapshot) ? absl::OkStatus()
                                      : absl::CancelledError("nobody watches any more");
      });
}

}  // namespace tidemark::cli
