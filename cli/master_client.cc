#include "cli/master_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>

#include "proto/wire/snapshot_codec.h"
#include "tidemark/v1/progress_service.grpc.pb.h"

namespace tidemark::cli {
namespace {

constexpr std::chrono::seconds kAnswerWithin{10};

// The codes are the same.
absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

grpc::ChannelArguments ChannelOptions() {
  grpc::ChannelArguments arguments;
  // A master is near; a proxy for the web would only be in the way.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Back as soon as the master is.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Notice a host that has vanished without closing its connections.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  return arguments;
}

}  // namespace

struct MasterClient::Stub {
  std::unique_ptr<v1::ProgressService::Stub> service;
};

MasterClient::MasterClient(const std::string& address)
    : address_(address),
      stub_(std::make_unique<Stub>(Stub{v1::ProgressService::NewStub(grpc::CreateCustomChannel(
          address, grpc::InsecureChannelCredentials(), ChannelOptions()))})) {}
MasterClient::~MasterClient() = default;

absl::StatusOr<Snapshot> MasterClient::GetJob(const std::string& job_id) const {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  v1::GetJobRequest request;
  request.set_job_id(job_id);
  v1::GetJobResponse response;
  const grpc::Status status = stub_->service->GetJob(&context, request, &response);
  if (!status.ok()) return FromGrpc(status);
  return wire::ParseSnapshot(response.snapshot());
}

absl::StatusOr<std::vector<Snapshot>> MasterClient::ListJobs() const {
  std::vector<Snapshot> jobs;
  v1::ListJobsRequest request;
  do {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
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

absl::Status MasterClient::WatchJob(const std::string& job_id, std::uint64_t after_sequence,
                                    const std::function<bool(const Snapshot&)>& on_snapshot,
                                    std::stop_token stop) const {
  grpc::ClientContext context;
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1::WatchJobRequest request;
  request.set_job_id(job_id);
  request.set_after_sequence(after_sequence);
  const auto stream = stub_->service->WatchJob(&context, request);
  absl::Status broken;
  v1::WatchJobResponse response;
  while (stream->Read(&response)) {
    const absl::StatusOr<Snapshot> snapshot = wire::ParseSnapshot(response.snapshot());
    if (snapshot.ok() && on_snapshot(*snapshot)) continue;
    broken = snapshot.ok() ? absl::CancelledError("nobody watches any more") : snapshot.status();
    context.TryCancel();
    break;
  }
  const grpc::Status status = stream->Finish();
  return broken.ok() ? FromGrpc(status) : broken;
}

}  // namespace tidemark::cli
