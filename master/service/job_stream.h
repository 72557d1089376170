// Streams to watchers over gRPC: each a cursor, and whether a write is in flight. They hold
// responses as bytes: messages take several times as much, for as long as a reader does not read.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "master/service/clock.h"
#include "master/service/encoded_snapshots.h"
#include "master/service/gate.h"
#include "master/service/grpc_status.h"
#include "master/service/job_hub.h"
#include "master/service/metrics.h"

namespace tidemark::service {

// A response of many jobs ends with the job that fills it, in bytes. Clients of gRPC accept 4 MiB
// unless they are told otherwise; taste: a quarter of that.
inline constexpr std::size_t kResponseBytes = std::size_t{1} << 20;

// What all streams use, and what outlives them.
struct Publishing {
  JobHub& hub;
  EncodedSnapshots& encoded;
  const Clock& clock;
  Gate& gate;
  Metrics& metrics;
};

// The stream of WatchJob, or of WatchJobs, whose request and responses are serialized; one that is
// refused ends at once.
using ByteStream = grpc::ServerWriteReactor<grpc::ByteBuffer>;
ByteStream* WatchJob(const Publishing& publishing, grpc::CallbackServerContext& context,
                     const grpc::ByteBuffer& untrusted);
ByteStream* WatchJobs(const Publishing& publishing, grpc::CallbackServerContext& context,
                      const grpc::ByteBuffer& untrusted);

}  // namespace tidemark::service
