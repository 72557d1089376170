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

  // Returns the JSON response to GET, at most 64 MiB and within ten seconds. Follows up to five
  // redirections, as a standby resource manager sends them, but none from https to http. Returns
  // NotFound for status 404 or 410, and PermissionDenied for 401 or 403. Returns Unavailable for
  // any other status but 200, no response, a protocol other than HTTP, or too many redirections.
  absl::StatusOr<std::string> Get(const std::string& url);

 private:
  struct Handle;
  const std::unique_ptr<Handle> handle_;
};

}  // namespace tidemark::cli
