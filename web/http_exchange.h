// An HTTP request and its response, independent of the HTTP library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::web {

struct HttpRequest {
  std::string method;
  std::vector<std::string> path;  // between the slashes, each decoded; "/" has none
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;
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

// Callbacks of a stream. The thread of the server calls both.
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
  // Starts a response of unknown length, such as server-sent events.
  virtual void BeginStream(StreamCalls calls) = 0;
  // Writes all parts. They may be shared with other readers; compression happens as they are sent.
  virtual void Write(std::vector<std::shared_ptr<const std::string>> bytes) = 0;
  void Write(std::string bytes) { Write({std::make_shared<const std::string>(std::move(bytes))}); }
  virtual void EndStream() = 0;
  // Closes the connection of a stream and drops unsent bytes.
  virtual void Abort() = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace tidemark::web
