// Serves the page and its API over HTTP, next to the gRPC service of a master (docs/web.md).
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "web/words.h"

namespace tidemark::web {

struct WebOptions {
  std::string address;  // host:port; port 0 selects a free port
  // PEM files, read once. Both are empty if the server does not use TLS.
  std::string certificate_file;
  std::string key_file;
  // The channel to the master. `has_tokens` is true if the master requires tokens.
  std::shared_ptr<grpc::Channel> master;
  bool has_tokens = false;
  WordsOf words_of;
  AddTaskWords add_task_words;
  AddExplanationWords add_explanation_words;
  AddContentionWords add_contention_words;
  SummaryOf summary_of;
  ComparisonOf comparison_of;
  std::string version;
  // Connections that are silent for this long are closed.
  absl::Duration silence_max = absl::Seconds(30);
};

class WebServer {
 public:
  // Fails with InvalidArgument if a file cannot be read, and with Unavailable if the server cannot
  // listen. The message names the file or address, and the reason.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(WebOptions options);
  // Returns false if this program was built without the page. The API is served in any case.
  static bool HasPage();
  // Ends all streams. The master must still exist.
  virtual ~WebServer() = default;
  virtual int port() const = 0;
};

}  // namespace tidemark::web
