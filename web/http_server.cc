#include "web/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "transport/listen_address.h"
#include "transport/turn_queue.h"
#include "web/routes.h"

namespace tidemark::web {
namespace {

// Memory of a connection for its headers. Also the number of response bytes that are read at once.
constexpr std::size_t kConnectionMemory = std::size_t{32} << 10;
constexpr std::size_t kBlockBytes = std::size_t{16} << 10;
// Number of bytes compressed in one step, during which other connections wait for a few
// milliseconds. Chosen by hand.
constexpr std::size_t kCompressedAtOnce = std::size_t{64} << 10;
constexpr std::size_t kQueryMax = 64;
// Interval of keepalive comments, which detect disconnected clients. Chosen by hand.
constexpr std::chrono::seconds kKeepaliveEvery(15);

// Allows scripts, styles and connections of this server only, and no frame around the page.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

MHD_Response* Respond(MHD_Response* response, const HttpAnswer& answer) {
  if (response == nullptr) return nullptr;
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
  MHD_add_response_header(response, "Content-Type", answer.content_type.c_str());
  bool has_cache_control = false;
  for (const auto& [name, value] : answer.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
    has_cache_control = has_cache_control || name == "Cache-Control";
  }
  if (!has_cache_control) MHD_add_response_header(response, "Cache-Control", "no-store");
  return response;
}

HttpAnswer ErrorAnswer(int status, std::string_view code, std::string_view message) {
  return {.status = status,
          .body = fmt::format(R"({{"code":"{}","message":"{}"}})", code, message)};
}

// One request, from its first line to the last byte of its response. The connection is suspended
// while no data waits. The thread that adds data resumes it.
class Transfer final : public Exchange {
 public:
  Transfer(MHD_Connection* connection, int socket) : connection_(connection), socket_(socket) {}

  HttpRequest& untrusted() { return request_; }
  const HttpRequest& request() const override { return request_; }
  bool is_too_large = false;
  bool is_handed_over = false;

  void Answer(HttpAnswer answer) override {
    const std::lock_guard lock(mutex_);
    if (is_gone_ || answer_) return;
    answer_ = std::move(answer);
    Wake();
  }
  void BeginStream(StreamCalls calls) override {
    std::unique_lock lock(mutex_);
    if (is_gone_ || answer_) {
      lock.unlock();
      if (calls.on_gone) calls.on_gone();
      return;
    }
    calls_ = std::move(calls);
    is_stream_ = true;
    answer_ = HttpAnswer{.content_type = "text/event-stream"};
    if (AcceptsGzip(request_.accept_encoding)) gzip_ = GzipStream::Start();
    if (gzip_) answer_->headers.emplace_back("Content-Encoding", "gzip");
    Wake();
  }
  using Exchange::Write;
  void Write(std::vector<std::shared_ptr<const std::string>> bytes) override {
    const std::lock_guard lock(mutex_);
    if (is_gone_ || is_ended_) return;
    for (std::shared_ptr<const std::string>& each : bytes) {
      if (!each->empty()) waiting_.push_back({std::move(each)});
    }
    Wake();
  }
  void EndStream() override {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    Wake();
  }
  void Abort() override {
    const std::lock_guard lock(mutex_);
    if (!is_gone_ && socket_ >= 0) shutdown(socket_, SHUT_RDWR);
  }

  // Returns true if the response is ready. Otherwise suspends the connection until it is.
  bool AwaitAnswer() {
    const std::lock_guard lock(mutex_);
    if (answer_) return true;
    Sleep();
    return false;
  }
  MHD_Result SendAnswer(const std::shared_ptr<Transfer>& self) {
    std::unique_lock lock(mutex_);
    HttpAnswer answer = *std::move(answer_);
    answer_.emplace();
    const bool is_stream = is_stream_;
    lock.unlock();
    MHD_Response* response = nullptr;
    if (is_stream) {
      response = MHD_create_response_from_callback(
          MHD_SIZE_UNKNOWN, kBlockBytes, &Read, new std::shared_ptr<Transfer>(self),
          [](void* held) { delete static_cast<std::shared_ptr<Transfer>*>(held); });
    } else {
      response = MHD_create_response_from_buffer(answer.body.size(), answer.body.data(),
                                                 MHD_RESPMEM_MUST_COPY);
    }
    if (Respond(response, answer) == nullptr) return MHD_NO;
    const MHD_Result result =
        MHD_queue_response(connection_, static_cast<unsigned>(answer.status), response);
    MHD_destroy_response(response);
    return result;
  }
  // Called when the connection is closed or used for another request.
  void Gone() {
    std::function<void()> notify;
    {
      const std::lock_guard lock(mutex_);
      is_gone_ = true;
      notify = std::move(calls_.on_gone);
      calls_ = {};
      waiting_.clear();
      ready_.clear();
      ready_sent_ = 0;
    }
    if (notify) notify();
  }
  void SendKeepalive() {
    const std::lock_guard lock(mutex_);
    if (is_stream_ && !is_gone_ && !is_ended_ && is_drained()) {
      waiting_.push_back({std::make_shared<const std::string>(":\n\n")});
      Wake();
    }
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    if (!answer_) answer_ = ErrorAnswer(503, "UNAVAILABLE", "the master is shutting down");
    Wake();
  }

 private:
  // Bytes that other readers may share, and the number of bytes already sent.
  struct Waiting {
    std::shared_ptr<const std::string> bytes;
    std::size_t taken = 0;
  };

  static ssize_t Read(void* held, std::uint64_t, char* bytes, std::size_t bytes_max) {
    Transfer& self = **static_cast<std::shared_ptr<Transfer>*>(held);
    std::size_t count = 0;
    std::function<void()> notify;
    {
      const std::lock_guard lock(self.mutex_);
      count = self.Take(bytes, bytes_max);
      if (count == 0) {
        if (self.is_ended_) return MHD_CONTENT_READER_END_OF_STREAM;
        self.Sleep();
        return 0;
      }
      if (self.is_drained()) notify = self.calls_.on_drained;
    }
    if (notify) notify();
    return static_cast<ssize_t>(count);
  }
  bool is_drained() const { return waiting_.empty() && ready_sent_ == ready_.size(); }
  // Copies the next bytes to send, and returns their number, or 0 if no bytes wait.
  std::size_t Take(char* bytes, std::size_t bytes_max) {
    if (gzip_) {
      while (ready_sent_ == ready_.size() && Compress()) continue;
      const std::size_t count = std::min(bytes_max, ready_.size() - ready_sent_);
      std::memcpy(bytes, ready_.data() + ready_sent_, count);
      ready_sent_ += count;
      return count;
    }
    std::size_t count = 0;
    while (!waiting_.empty() && count < bytes_max) {
      count +=
          TakeFirst(bytes_max - count, [&](const char* from, std::size_t size, bool /*is_last*/) {
            std::memcpy(bytes + count, from, size);
          });
    }
    return count;
  }
  // Compresses the next block into `ready_`, which may be empty afterwards. Returns false if no
  // block waits.
  bool Compress() {
    ready_sent_ = 0;
    ready_.clear();
    if (!waiting_.empty()) {
      TakeFirst(kCompressedAtOnce, [&](const char* from, std::size_t size, bool is_last) {
        ready_ = gzip_->Add({from, size}, /*flush=*/is_last);
      });
      return true;
    }
    if (!is_ended_ || std::exchange(has_gzip_end_, true)) return false;
    ready_ = gzip_->End();
    return true;
  }
  // Passes at most `bytes_max` waiting bytes to `take`, with a flag that is true for the last
  // bytes. REQUIRES: bytes wait.
  template <typename Taker>
  std::size_t TakeFirst(std::size_t bytes_max, Taker take) {
    Waiting& first = waiting_.front();
    const std::size_t count = std::min(bytes_max, first.bytes->size() - first.taken);
    const bool is_over = first.taken + count == first.bytes->size();
    take(first.bytes->data() + first.taken, count, is_over && waiting_.size() == 1);
    first.taken += count;
    if (is_over) waiting_.pop_front();
    return count;
  }
  void Sleep() {
    is_suspended_ = true;
    MHD_suspend_connection(connection_);
  }
  void Wake() {
    if (std::exchange(is_suspended_, false)) MHD_resume_connection(connection_);
  }

  MHD_Connection* const connection_;  // valid while suspended, and on the server's thread
  const int socket_;                  // open until Gone()
  HttpRequest request_;
  std::mutex mutex_;  // Guards the members below.
  std::optional<HttpAnswer> answer_;
  StreamCalls calls_;
  std::unique_ptr<GzipStream> gzip_;  // null if the stream is not compressed
  std::deque<Waiting> waiting_;
  std::string ready_;           // compressed bytes
  std::size_t ready_sent_ = 0;  // number of bytes of ready_ that have been sent
  bool has_gzip_end_ = false;
  bool is_stream_ = false;
  bool is_ended_ = false;
  bool is_gone_ = false;
  bool is_suspended_ = false;
};

std::string Header(MHD_Connection* connection, const char* name, MHD_ValueKind kind) {
  const char* const value = MHD_lookup_connection_value(connection, kind, name);
  return value == nullptr ? "" : value;
}

// Connections whose next request is incomplete. Closes requests that take too long, since a client
// that sends one byte at a time could otherwise hold its connection forever. Thread-safe.
class AwaitedRequests {
 public:
  // Records a new or idle connection. Any pointer may identify it.
  void Await(const void* connection, int socket, absl::Time now) {
    const std::lock_guard lock(mutex_);
    awaited_[connection] = {socket, now};
  }
  // Removes a connection whose request is complete or that is closed. The socket must be open until
  // then.
  void Remove(const void* connection) {
    const std::lock_guard lock(mutex_);
    awaited_.erase(connection);
  }
  // Shuts down connections recorded at or before `before`.
  void CloseOlderThan(absl::Time before) {
    const std::lock_guard lock(mutex_);
    for (const auto& [connection, awaited] : awaited_) {
      if (awaited.since <= before) shutdown(awaited.socket, SHUT_RDWR);
    }
  }

 private:
  struct Awaited {
    int socket = -1;
    absl::Time since;
  };
  std::mutex mutex_;  // Guards the members below.
  std::map<const void*, Awaited> awaited_;
};

class MicroHttpServer final : public HttpServer {
 public:
  MicroHttpServer(HttpOptions options, Handler handler)
      : options_(std::move(options)), handler_(std::move(handler)) {}
  ~MicroHttpServer() override {
    if (daemon_ == nullptr) return;
    const MHD_socket listener = MHD_quiesce_daemon(daemon_);
    std::set<std::shared_ptr<Transfer>> open;
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
      open = open_;
    }
    stopped_.notify_all();
    if (keepalive_.joinable()) keepalive_.join();
    for (const auto& transfer : open) transfer->Close();
    MHD_stop_daemon(daemon_);
    if (listener != MHD_INVALID_SOCKET) close(listener);
  }

  // Serves clients of a listening socket, which the daemon then owns. Returns false if the daemon
  // cannot start.
  bool Serve(int listener) {
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (!options_.key.empty()) flags |= MHD_USE_TLS;
    MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(options_.key.c_str())},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(options_.certificate.c_str())},
        {MHD_OPTION_END, 0, nullptr}};
    MHD_OptionItem none[] = {{MHD_OPTION_END, 0, nullptr}};
    daemon_ = MHD_start_daemon(
        flags, 0, nullptr, nullptr, &OnRequest, this, MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, options_.connections_max, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        options_.connections_per_host_max, MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(absl::ToInt64Seconds(options_.silence_max)),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_UNESCAPE_CALLBACK,
        &LeaveEscaped, nullptr, MHD_OPTION_NOTIFY_COMPLETED, &OnCompleted, this,
        MHD_OPTION_NOTIFY_CONNECTION, &OnConnection, this, MHD_OPTION_EXTERNAL_LOGGER, &Ignore,
        nullptr, MHD_OPTION_ARRAY, options_.key.empty() ? none : tls, MHD_OPTION_END);
    if (daemon_ == nullptr) return false;
    keepalive_ = std::thread([this] { SendKeepalive(); });
    return true;
  }
  int port() const override {
    return MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)->port;
  }

 private:
  // Paths are decoded after they are split, since an encoded slash is part of a name.
  static std::size_t LeaveEscaped(void*, MHD_Connection*, char* text) { return std::strlen(text); }
  // Drops messages of the library, which any client can cause and which contain untrusted text.
  static void Ignore(void*, const char*, va_list) {}

  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* path,
                              const char* method, const char*, const char* bytes, std::size_t* size,
                              void** state) {
    return static_cast<MicroHttpServer*>(self)->Handle(connection, path, method, bytes, size,
                                                       state);
  }
  // Returns -1 if the socket is unknown.
  static int SocketOf(MHD_Connection* connection) {
    const MHD_ConnectionInfo* const known =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return known == nullptr ? -1 : known->connect_fd;
  }
  void Await(MHD_Connection* connection) {
    if (const int socket = SocketOf(connection); socket >= 0) {
      awaited_.Await(connection, socket, absl::Now());
    }
  }
  static void OnConnection(void* self, MHD_Connection* connection, void**,
                           MHD_ConnectionNotificationCode what) {
    auto& server = *static_cast<MicroHttpServer*>(self);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      server.Await(connection);
    } else {
      server.awaited_.Remove(connection);
    }
  }
  static void OnCompleted(void* self, MHD_Connection* connection, void** state,
                          MHD_RequestTerminationCode) {
    static_cast<MicroHttpServer*>(self)->Await(connection);
    if (*state == nullptr) return;
    const std::unique_ptr<std::shared_ptr<Transfer>> held(
        static_cast<std::shared_ptr<Transfer>*>(*state));
    *state = nullptr;
    {
      auto& server = *static_cast<MicroHttpServer*>(self);
      const std::lock_guard lock(server.mutex_);
      server.open_.erase(*held);
    }
    (*held)->Gone();
  }

  MHD_Result Handle(MHD_Connection* connection, const char* path, const char* method,
                    const char* bytes, std::size_t* size, void** state) {
    // The library creates this thread. A lower priority leaves processors to the master.
    static thread_local const int is_nice =
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), transport::kNice);
    static_cast<void>(is_nice);
    if (*state == nullptr) {
      auto transfer = std::make_shared<Transfer>(connection, SocketOf(connection));
      if (const auto peer = transport::PeerOf(SocketOf(connection))) {
        transfer->untrusted().peer = peer->name;
      }
      *state = new std::shared_ptr<Transfer>(transfer);
      const std::lock_guard lock(mutex_);
      open_.insert(transfer);
      return MHD_YES;
    }
    // Completion may free the object behind `state`.
    const std::shared_ptr<Transfer> transfer = *static_cast<std::shared_ptr<Transfer>*>(*state);
    if (*size > 0) {
      std::string& body = transfer->untrusted().body;
      if (body.size() + *size > options_.body_bytes_max) {
        transfer->is_too_large = true;
        body.clear();
      }
      if (!transfer->is_too_large) body.append(bytes, *size);
      *size = 0;
      return MHD_YES;
    }
    if (!std::exchange(transfer->is_handed_over, true)) {
      awaited_.Remove(connection);
      if (IsStopping()) {
        transfer->Close();
      } else if (transfer->is_too_large) {
        transfer->Answer(ErrorAnswer(
            413, "INVALID_ARGUMENT",
            fmt::format("the request is larger than {} bytes", options_.body_bytes_max)));
      } else if (!Read(connection, path, method, transfer->untrusted())) {
        transfer->Answer(
            ErrorAnswer(400, "INVALID_ARGUMENT", "the address is malformed; check its % signs"));
      } else {
        handler_(transfer);
      }
    }
    if (!transfer->AwaitAnswer()) {
      if (IsStopping()) transfer->Close();
      return MHD_YES;
    }
    return transfer->SendAnswer(transfer);
  }

  bool Read(MHD_Connection* connection, std::string_view path, const char* method,
            HttpRequest& request) const {
    request.method = method;
    const auto header = [&](const char* name) { return Header(connection, name, MHD_HEADER_KIND); };
    request.authorization = header("Authorization");
    request.host = header("Host");
    request.origin = header("Origin");
    request.fetch_site = header("Sec-Fetch-Site");
    request.last_event_id = header("Last-Event-ID");
    request.content_type = header("Content-Type");
    request.accept_encoding = header("Accept-Encoding");
    request.if_none_match = header("If-None-Match");
    request.session = Header(connection, options_.cookie.c_str(), MHD_COOKIE_KIND);
    std::optional<std::vector<std::string>> parts = PathParts(path);
    if (!parts) return false;
    request.path = *std::move(parts);
    struct Query {
      std::vector<std::pair<std::string, std::string>> pairs;
      bool is_valid = true;
    } query;
    MHD_get_connection_values(
        connection, MHD_GET_ARGUMENT_KIND,
        [](void* found, MHD_ValueKind, const char* key, const char* value) {
          auto& into = *static_cast<Query*>(found);
          auto name = PercentDecoded(key);
          auto text = PercentDecoded(value == nullptr ? "" : value);
          into.is_valid = name && text && into.pairs.size() < kQueryMax;
          if (into.is_valid) into.pairs.emplace_back(*std::move(name), *std::move(text));
          return into.is_valid ? MHD_YES : MHD_NO;
        },
        &query);
    request.query = std::move(query.pairs);
    return query.is_valid;
  }

  bool IsStopping() {
    const std::lock_guard lock(mutex_);
    return is_stopping_;
  }
  void SendKeepalive() {
    std::unique_lock lock(mutex_);
    const auto pause =
        std::min<absl::Duration>(absl::FromChrono(kKeepaliveEvery), options_.silence_max);
    while (!stopped_.wait_for(lock, absl::ToChronoNanoseconds(pause),
                              [this] { return is_stopping_; })) {
      const auto open = open_;
      lock.unlock();
      awaited_.CloseOlderThan(absl::Now() - options_.silence_max);
      for (const auto& transfer : open) transfer->SendKeepalive();
      lock.lock();
    }
  }

  const HttpOptions options_;
  const Handler handler_;
  AwaitedRequests awaited_;
  MHD_Daemon* daemon_ = nullptr;
  std::thread keepalive_;
  std::mutex mutex_;  // Guards the members below.
  std::condition_variable stopped_;
  std::set<std::shared_ptr<Transfer>> open_;
  bool is_stopping_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              Handler handler) {
  const auto refuse = [&](const std::string& reason) {
    return absl::UnavailableError(fmt::format("{}: {}", options.setting, reason));
  };
  const absl::StatusOr<int> listener = transport::ListenAtOne(options.address);
  if (!listener.ok()) return refuse(std::string(listener.status().message()));
  auto server = std::make_unique<MicroHttpServer>(options, std::move(handler));
  if (transport::HandOver(*listener, [&] { return server->Serve(*listener); })) return server;
  return refuse(fmt::format("cannot serve {} at {}: {}", options.content, options.address,
                            options.key.empty() ? std::strerror(errno)
                                                : "the certificate or key cannot be used; check "
                                                  "tls.certificate and tls.key"));
}

namespace {

// Thousands of streams may be open. A window of 4 KiB and a total of 32 KiB, instead of 256 KiB,
// compress the JSON of one update nearly as well.
constexpr int kWindowBits = 12;
constexpr int kGzip = 16;
constexpr int kMemoryLevel = 5;
constexpr int kLevel = 4;

class ZlibStream final : public GzipStream {
 public:
  bool Begin() {
    is_open_ = deflateInit2(&stream_, kLevel, Z_DEFLATED, kWindowBits + kGzip, kMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK;
    return is_open_;
  }
  ~ZlibStream() override {
    if (is_open_) deflateEnd(&stream_);
  }
  std::string Add(std::string_view text, bool flush) override {
    return Deflate(text, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH);
  }
  std::string End() override { return Deflate("", Z_FINISH); }

 private:
  std::string Deflate(std::string_view text, int flush) {
    std::string bytes;
    char block[4096];
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block);
      stream_.avail_out = sizeof(block);
      deflate(&stream_, flush);
      bytes.append(block, sizeof(block) - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return bytes;
  }

  z_stream stream_ = {};
  bool is_open_ = false;
};

// Returns true for a parameter such as "q=0" or " Q = 0.000".
bool IsWeightOfZero(absl::string_view parameter) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(parameter, absl::MaxSplits('=', 1));
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "q")) return false;
  const absl::string_view weight = absl::StripAsciiWhitespace(parts.second);
  return weight.find_first_not_of("0.") == absl::string_view::npos;
}

}  // namespace

std::unique_ptr<GzipStream> GzipStream::Start() {
  auto stream = std::make_unique<ZlibStream>();
  if (!stream->Begin()) return nullptr;
  return stream;
}

std::optional<std::string> Gunzip(std::string_view bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + kGzip) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    char block[16384];
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof(block);
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(block, sizeof(block) - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return text;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  const absl::string_view header(accept_encoding.data(), accept_encoding.size());
  for (const absl::string_view coding : absl::StrSplit(header, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(coding, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), "gzip")) continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (IsWeightOfZero(parts[i])) return false;
    }
    return true;
  }
  return false;
}

}  // namespace tidemark::web
