#include "serve/master_health.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "client/master_channel.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::cli {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr std::chrono::seconds kAnswerWithin{10};

}  // namespace

absl::StatusOr<bool> TakesReports(const std::string& address, const ClientSecurity& security) {
  const auto channel = client::MasterChannel(address, security);
  if (!channel.ok()) return channel.status();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  HealthCheckRequest request;
  request.set_service(v1::IngestService::service_full_name());
  HealthCheckResponse response;
  const grpc::Status status = Health::NewStub(*channel)->Check(&context, request, &response);
  if (!status.ok()) return client::FromGrpc(status);
  return response.status() == HealthCheckResponse::SERVING;
}

}  // namespace tidemark::cli
