// An HTTP server with one thread for all connections (libmicrohttpd with epoll).
//
// A connection costs a descriptor and, during a request, up to 32 KiB. The server closes
// connections that are silent for 30 s or whose clients do not read. Requests are bounded,
// responses contain no header from a request, and every response forbids browser features that the
// page does not need (Content-Security-Policy and others).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "web/http_exchange.h"

namespace tidemark::web {

struct HttpOptions {
  std::string address;  // host:port; port 0 selects a free port
  // PEM; both or neither.
  std::string certificate;
  std::string key;
  std::string cookie;  // the name of the session cookie
  unsigned connections_max = 2048;
  unsigned connections_per_host_max = 1024;
  absl::Duration silence_max = absl::Seconds(30);  // also limits the time of a whole request
  std::size_t body_bytes_max = std::size_t{64} << 10;
};

class HttpServer {
 public:
  // `handler` runs on the thread of the server and must return quickly. Fails with Unavailable and
  // the reason if the server cannot listen or start.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           Handler handler);
  // Ends all streams. Pending requests get status 503.
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

}  // namespace tidemark::web
