// Serves the page and its API over HTTP, next to the gRPC service of a master (docs/web.md).
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tidemark/job.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::web {

// REQUIRES: the snapshot is whole.
using WordsOf = std::function<v1::JobWords(const Snapshot&)>;

// The functions that write the texts of the page, which equal the console's texts.
struct PageTexts {
  WordsOf words_of;
  // These functions add words to an answer.
  std::function<void(v1::TasksAnswer&)> add_task_words;
  std::function<void(const tidemark::v1::ExplainQuestion&, v1::ExplanationAnswer&)>
      add_explanation_words;
  std::function<void(v1::ContentionAnswer&)> add_contention_words;
  // Returns the paragraph about the costs of an ended job. `waits` contains the waits of the job,
  // or the reason why they are unknown.
  std::function<std::string(const Snapshot&,
                            const absl::StatusOr<tidemark::v1::Explanation>& waits)>
      summary_of;
  // Compares a job with a past run.
  std::function<v1::ComparisonAnswer(const Snapshot& before, const Snapshot& after)> comparison_of;
};

struct WebOptions {
  std::string address;  // host:port; port 0 selects a free port
  // PEM files, read once. Both are empty if the server does not use TLS.
  std::string certificate_file;
  std::string key_file;
  // The channel to the master. `has_tokens` is true if the master requires tokens.
  std::shared_ptr<grpc::Channel> master;
  bool has_tokens = false;
  PageTexts texts;
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
