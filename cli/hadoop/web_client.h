// A client of web services.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// One connection, which is reused while it works. Not thread-safe.
class WebClient {
 public:
  WebClient();
  ~WebClient();
  WebClient(const WebClient&) = delete;
  WebClient& operator=(const WebClient&) = delete;

  // The answer to GET, as JSON, at most 64 MiB and within ten seconds. Follows up to five
  // redirections, as of a standby resource manager, but none from https to http. NotFound: the
  // status is 404 or 410. PermissionDenied: it is 401 or 403. Unavailable: it is another one than
  // 200, there is no answer, or there are too many redirections.
  absl::StatusOr<std::string> Get(const std::string& url);

 private:
  struct Handle;
  const std::unique_ptr<Handle> handle_;
};

}  // namespace tidemark::cli
