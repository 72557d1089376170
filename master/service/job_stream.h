// Streams to watchers over gRPC: each a cursor, and whether a write is in flight.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "master/service/clock.h"
#include "master/service/gate.h"
#include "master/service/grpc_status.h"
#include "master/service/job_hub.h"
#include "master/service/metrics.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::service {

// A response of many jobs ends with the job that fills it, in bytes. Clients of gRPC accept 4 MiB
// unless they are told otherwise; taste: a quarter of that.
inline constexpr std::size_t kResponseBytes = std::size_t{1} << 20;

// What all streams use, and what outlives them.
struct Publishing {
  JobHub& hub;
  const Clock& clock;
  Gate& gate;
  Metrics& metrics;
};

// The stream of WatchJob, or of WatchJobs; one that is refused ends at once.
grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(const Publishing& publishing,
                                                         grpc::CallbackServerContext& context,
                                                         const v1::WatchJobRequest& untrusted);
grpc::ServerWriteReactor<v1::WatchJobsResponse>* WatchJobs(const Publishing& publishing,
                                                           grpc::CallbackServerContext& context,
                                                           const v1::WatchJobsRequest& untrusted);

}  // namespace tidemark::service
