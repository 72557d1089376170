// Many cheap agents. Each is a stream that repeatedly writes the same reduce profile and reads all
// responses.
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
  std::string job_prefix;  // ids are PREFIX-0, PREFIX-1, ...
  std::uint32_t streams = 1;
  std::uint32_t streams_per_job = 100;
  std::uint32_t points = 100;      // key-group points in each message, in addition to bins
  double messages_per_second = 0;  // total rate of all streams; 0 for no limit
  absl::Duration duration = absl::Seconds(1);
};

struct LoadResult {
  std::uint64_t sent = 0;  // number of sent messages
  // messages that the server acknowledged or, if it is a bare server, read
  std::uint64_t messages = 0;
  absl::Duration elapsed;  // time until the last message was read
  std::uint64_t failed_streams = 0;
  double per_second() const {
    return static_cast<double>(messages) / absl::ToDoubleSeconds(elapsed);
  }
};

// Opens the jobs and sends messages for the given duration. Returns after all streams have ended.
LoadResult RunLoad(const AgentLoad& load);

// Streams that send one message and then remain idle.
class IdleStreams {
 public:
  // `per_connection` streams share each connection.
  IdleStreams(const std::string& address, std::uint32_t streams, std::uint32_t per_connection);
  ~IdleStreams();

 private:
  struct Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
};

// Returns a reduce profile of 100 key groups, which are also sent as points. The profile is a batch
// that opens its source and has no sequence number.
v1::StreamEventsRequest ProfileMessage(const std::string& job_id, std::uint32_t task,
                                       std::uint32_t points);
void OpenSource(const std::string& job_id, const std::string& source_id,
                v1::StreamEventsRequest& request);
// Returns a channel with its own connection.
std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address);
// Opens a job with the given number of running reduce tasks. Returns false if the server does not
// respond.
bool OpenJob(const std::shared_ptr<grpc::Channel>& channel, const std::string& job_id,
             std::uint32_t reduce_tasks);

}  // namespace tidemark::bench
