// A request over HTTP and its answer, without the library behind them.
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
  // Headers; empty: not sent.
  std::string authorization;
  std::string host;
  std::string origin;
  std::string fetch_site;
  std::string last_event_id;
  std::string content_type;
  std::string accept_encoding;
  std::string if_none_match;
  std::string session;  // the cookie
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// What a long answer needs of the one who sends it. Both are called by the thread of the server.
struct StreamCalls {
  // All that was written is on its way: time for more.
  std::function<void()> on_drained;
  // The reader is gone; the last call.
  std::function<void()> on_gone;
};

// One request that waits for its answer. Thread-safe. After the reader has gone nothing happens.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  // Once, unless a stream is begun.
  virtual void Answer(HttpAnswer answer) = 0;
  // An answer of unknown length: server-sent events.
  virtual void BeginStream(StreamCalls calls) = 0;
  // All of these together. They may be shared with other readers, and are compressed, if at all, as
  // they are sent.
  virtual void Write(std::vector<std::shared_ptr<const std::string>> bytes) = 0;
  void Write(std::string bytes) { Write({std::make_shared<const std::string>(std::move(bytes))}); }
  virtual void EndStream() = 0;
  // Closes the connection of a stream, whatever was not sent yet.
  virtual void Abort() = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

}  // namespace tidemark::web
