// An HTTP client for web services.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// Reuses one connection while it works. Not thread-safe.
class WebClient {
 public:
  WebClient();
  ~WebClient();
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  // Returns the JSON answer to GET, at most 64 MiB and within ten seconds. Follows up to five
  // redirections, as a standby resource manager sends them, but none from https to http.
  // NotFound for status 404 or 410, PermissionDenied for 401 or 403. Unavailable for any other
  // status but 200, no answer, an answer in another protocol than HTTP, or too many redirections.
  absl::StatusOr<std::string> Get(const std::string& url);

 private:
  struct Handle;
  const std::unique_ptr<Handle> handle_;
};

}  // namespace tidemark::cli
