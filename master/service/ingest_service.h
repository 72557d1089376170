// IngestService over a JobTable: reads envelopes, acknowledges, steers. Knows no formula.
#pragma once

#include "absl/time/time.h"
#include "master/service/job_table.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::service {

// What agents are told when they connect.
struct AgentControl {
  absl::Duration flush_interval = absl::Seconds(1);
  std::uint32_t lambda = 2000;
};

class IngestService final : public v1::IngestService::CallbackService {
 public:
  // `jobs` outlives the service.
  IngestService(JobTable& jobs, AgentControl control) : jobs_(jobs), control_(control) {}

  grpc::ServerBidiReactor<v1::StreamEventsRequest, v1::StreamEventsResponse>* StreamEvents(
      grpc::CallbackServerContext* context) override;

 private:
  JobTable& jobs_;
  const AgentControl control_;
};

}  // namespace tidemark::service
