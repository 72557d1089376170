// An HTTP server with one thread for all connections (libmicrohttpd with epoll).
//
// A connection takes a descriptor and, during a request, up to 32 KiB of memory. The server closes
// connections that are silent for HttpOptions::silence_max or whose clients do not read. Requests
// are bounded, responses contain no header from a request, and every response forbids browser
// features that the page does not need (Content-Security-Policy and others).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "web/http_exchange.h"

namespace tidemark::web {

struct HttpOptions {
  // For error messages: the setting that contains the address, and a name for what the server
  // serves.
  std::string setting = "web.listen";
  std::string content = "the page";
  std::string address;  // host:port; port 0 selects a free port
  // PEM; either both or neither.
  std::string certificate;
  std::string key;
  std::string cookie;  // the name of the session cookie
  unsigned connections_max = 2048;
  unsigned connections_per_host_max = 1024;
  absl::Duration silence_max = absl::Seconds(30);  // also limits the duration of a whole request
  std::size_t body_bytes_max = std::size_t{64} << 10;
};

class HttpServer {
 public:
  // `handler` runs on the server's thread and must return quickly. Fails with Unavailable if the
  // server cannot listen or start; the message states the reason.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           Handler handler);
  // Ends all streams. Pending requests get status 503.
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

// Returns true if the header Accept-Encoding (RFC 9110, 12.5.3) names gzip with a weight above 0.
// For any other header, even one with *, the server sends uncompressed bytes. Pure.
bool AcceptsGzip(std::string_view accept_encoding);

// A stream whose readers can decompress each part as soon as it arrives. Takes about 40 KiB of
// memory. Not thread-safe.
class GzipStream {
 public:
  // Returns null if memory is exhausted.
  static std::unique_ptr<GzipStream> Start();
  virtual ~GzipStream() = default;
  // Returns bytes to send after the previous bytes. If `flush` is true, they complete all text so
  // far; otherwise some may follow later.
  virtual std::string Add(std::string_view text, bool flush = true) = 0;
  // Returns the last bytes. No text may be added afterwards.
  virtual std::string End() = 0;
};

// Returns the text of a whole gzip file, or nullopt if the file is damaged or memory is exhausted.
// The file must be trusted, since the whole text is held in memory.
std::optional<std::string> Gunzip(std::string_view bytes);

}  // namespace tidemark::web
