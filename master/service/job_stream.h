// Streams to watchers over gRPC. Each has a cursor and at most one response in progress. Streams
// hold responses as bytes, since messages that wait for a slow reader would take several times as
// much memory.
//
// Two threads compute all responses, in turns by job (turn_queue.h). The tick thread and the
// threads of gRPC compute no responses. Watchers of a large job therefore delay neither its tick
// nor the events, snapshots and watchers of other jobs. A stream that waits for its turn gets the
// snapshot that is newest when its turn comes.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "master/service/clock.h"
#include "master/service/encoded_snapshots.h"
#include "master/service/gate.h"
#include "master/service/job_hub.h"
#include "master/service/metrics.h"
#include "transport/turn_queue.h"
#include "transport/writes_in_flight.h"

namespace tidemark::service {

// Size at which a response of many jobs ends, in bytes. Chosen by hand as a quarter of the 4 MiB
// that gRPC clients accept by default.
inline constexpr std::size_t kResponseBytes = std::size_t{1} << 20;

// State for making responses. All streams share it.
struct Deliveries {
  EncodedSnapshots encoded{};
  SentSnapshots sent{};
  transport::WritesInFlight in_flight{};
  // By job. Declared last, so that its threads end before the other members are destroyed.
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

// The stream of WatchJob or WatchJobs, with serialized request and responses. A rejected stream
// ends immediately.
using ByteStream = grpc::ServerWriteReactor<grpc::ByteBuffer>;
ByteStream* WatchJob(const Publishing& publishing, grpc::CallbackServerContext& context,
                     const grpc::ByteBuffer& untrusted);
ByteStream* WatchJobs(const Publishing& publishing, grpc::CallbackServerContext& context,
                      const grpc::ByteBuffer& untrusted);

}  // namespace tidemark::service
