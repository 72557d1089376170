// An HTTP request and its response, independent of the HTTP library.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace tidemark::web {

struct HttpRequest {
  std::string method;
  std::vector<std::string> path;  // parts between the slashes, each decoded; "/" has none
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;
  std::string peer;  // client of the connection, as named by transport::PeerOf(); may be empty
  // Headers; empty if absent.
  std::string authorization;
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string last_event_id;
  std::string content_type;
  std::string accept_encoding;
  std::string if_none_match;
  std::string session;  // value of the cookie
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Callbacks of a stream. The server's thread calls both, except if the stream cannot begin.
struct StreamCalls {
  // Called when all written bytes are in flight and more can be written.
  std::function<void()> on_drained;
  // Called when the client has disconnected. No further call follows.
  std::function<void()> on_gone;
};

// One request and its pending response. Thread-safe. After the client has disconnected, calls have
// no effect.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  // Must be called once, unless BeginStream() is called.
  virtual void Answer(HttpAnswer answer) = 0;
  // Starts a response of unknown length, such as server-sent events. If the client has disconnected
  // or already has an answer, as it does when the server stops, calls only `on_gone`, at once.
  virtual void BeginStream(StreamCalls calls) = 0;
  // Writes all parts, which may be shared with other readers. Compression happens as they are sent.
  virtual void Write(std::vector<std::shared_ptr<const std::string>> bytes) = 0;
  void Write(std::string bytes) { Write({std::make_shared<const std::string>(std::move(bytes))}); }
  virtual void EndStream() = 0;
  // Closes the connection of a stream and drops unsent bytes.
  virtual void Abort() = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

// Converts messages to JSON (proto/wire/message_json.h), from JSON, and to HTTP responses.

std::string Json(const google::protobuf::Message& message);
// Parses JSON into `message`. Fails with InvalidArgument, which contains the position of the fault.
absl::Status ParseJson(const std::string& untrusted, google::protobuf::Message& message);

HttpAnswer JsonAnswer(const google::protobuf::Message& message);
// Returns a Problem with the corresponding HTTP status, such as 404 for "NOT_FOUND".
HttpAnswer ProblemAnswer(const grpc::Status& status);
HttpAnswer ProblemAnswer(const absl::Status& status);
// Returns the body of the answer that ProblemAnswer() returns.
std::string ProblemJson(const grpc::Status& status);

}  // namespace tidemark::web
