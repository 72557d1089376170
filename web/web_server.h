// The page and its API over HTTP, next to the gRPC of a master (docs/web.md).
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "web/words.h"

namespace tidemark::web {

struct WebOptions {
  std::string address;  // host:port; port 0 takes a free one
  // PEM files; empty: no TLS. Read once.
  std::string certificate_file;
  std::string key_file;
  // What the master is asked through, and whether it asks for tokens.
  std::shared_ptr<grpc::Channel> master;
  bool has_tokens = false;
  WordsOf words_of;
  AddTaskWords add_task_words;
  AddExplanationWords add_explanation_words;
  std::string version;
  // Of a connection that says nothing.
  absl::Duration silence_max = absl::Seconds(30);
};

class WebServer {
 public:
  // InvalidArgument: a file cannot be read; Unavailable: it cannot listen. Messages say which and
  // why.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(WebOptions options);
  // Ends all streams. Before the master goes.
  virtual ~WebServer() = default;
  virtual int port() const = 0;
};

}  // namespace tidemark::web
