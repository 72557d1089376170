// Many agents at once, as cheap as can be: each a stream that writes the same reduce profile over
// and over and reads whatever the server answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"

namespace tidemark::bench {

struct AgentLoad {
  std::string address;
  std::string job_prefix;  // jobs are called PREFIX-0, PREFIX-1, ...
  std::uint32_t streams = 1;
  std::uint32_t streams_per_job = 100;
  std::uint32_t points = 100;      // key-group points in a message, beside their bins
  double messages_per_second = 0;  // of all streams together; 0: as fast as it goes
  absl::Duration duration = absl::Seconds(1);
};

struct LoadResult {
  std::uint64_t sent = 0;      // messages
  std::uint64_t messages = 0;  // that the server has acknowledged; a bare one: read
  absl::Duration elapsed;      // until it had read the last one
  std::uint64_t failed_streams = 0;
  double per_second() const {
    return static_cast<double>(messages) / absl::ToDoubleSeconds(elapsed);
  }
};

// Opens the jobs, sends for the duration, and returns when every stream has ended.
LoadResult RunLoad(const AgentLoad& load);

// Streams that say one thing and then nothing.
class IdleStreams {
 public:
  // `per_connection` streams share one connection.
  IdleStreams(const std::string& address, std::uint32_t streams, std::uint32_t per_connection);
  ~IdleStreams();

 private:
  struct Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
};

// A reduce profile of 100 key groups, as many of them as points, too: a batch without its sequence,
// which opens its source.
v1::StreamEventsRequest ProfileMessage(const std::string& job_id, std::uint32_t task,
                                       std::uint32_t points);
void OpenSource(const std::string& job_id, const std::string& source_id,
                v1::StreamEventsRequest& request);
// With a connection of its own.
std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address);
// Opens a job with so many reduce tasks, all of them running. False: the server does not answer.
bool OpenJob(const std::shared_ptr<grpc::Channel>& channel, const std::string& job_id,
             std::uint32_t reduce_tasks);

}  // namespace tidemark::bench
