// The listener: one thread, however many connections (libmicrohttpd with epoll).
//
// A connection costs a descriptor and, while a request is read or answered, up to 32 KiB; who says
// nothing for 30 s, or does not read what is sent to him, loses it. What a request may hold is
// bounded, no header of an answer is ever taken from a request, and every answer forbids what the
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
  std::string address;  // host:port; port 0 takes a free one
  // PEM, both or neither.
  std::string certificate;
  std::string key;
  std::string cookie;  // the name of the one cookie that is read
  unsigned connections_max = 2048;
  unsigned connections_per_host_max = 1024;
  absl::Duration silence_max = absl::Seconds(30);  // and for a whole request
  std::size_t body_bytes_max = std::size_t{64} << 10;
};

class HttpServer {
 public:
  // `handler` is called on the thread of the server and must return quickly. Unavailable: cannot
  // listen; the message says why.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           Handler handler);
  // Ends all streams; open questions are answered with 503.
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

}  // namespace tidemark::web
