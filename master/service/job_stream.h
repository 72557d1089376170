// Streams to watchers over gRPC: each a cursor, and whether a response is being made or written.
// They hold responses as bytes: messages take several times as much, for as long as a reader does
// not read.
//
// Two threads make all responses, in turns by job (turn_queue.h); the ticking thread and the
// threads of gRPC make none. Watchers of a large job therefore delay neither its tick nor the
// events, snapshots and watchers of other jobs. A stream that waits for its turn gets the newest
// snapshot at that time.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "master/service/clock.h"
#include "master/service/encoded_snapshots.h"
#include "master/service/gate.h"
#include "master/service/grpc_status.h"
#include "master/service/job_hub.h"
#include "master/service/metrics.h"
#include "master/service/sent_snapshots.h"
#include "transport/turn_queue.h"
#include "transport/writes_in_flight.h"

namespace tidemark::service {

// A response of many jobs ends with the job that fills it, in bytes. Clients of gRPC accept 4 MiB
// by default; a quarter of that was chosen by hand.
inline constexpr std::size_t kResponseBytes = std::size_t{1} << 20;

// Responses to watchers: what all streams share.
struct Deliveries {
  EncodedSnapshots encoded{};
  SentSnapshots sent{};
  transport::WritesInFlight in_flight{};
  // By job. Last, so that its threads end before all else does.
  transport::TurnQueue turns{2, transport::kNice};
};

// State that all streams share and that outlives them.
struct Publishing {
  JobHub& hub;
  Deliveries& deliveries;
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
