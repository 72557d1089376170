// A local HTTP server that receives webhooks and fails as planned.
#pragma once

#include <microhttpd.h>
#include <netinet/in.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::test {

class HookServer {
 public:
  struct Request {
    std::string body;
    std::map<std::string, std::string> headers;
  };
  // The response to a request. With status 0, the server closes the connection after reading the
  // request.
  struct Plan {
    unsigned status = 200;
    std::string retry_after;
    std::string location;
    // If true, the response is sent only after Release().
    bool is_held = false;
    // If true, the body never ends.
    bool is_endless = false;
  };

  using Plans = std::deque<Plan>;

  // Requests beyond `plans` are accepted.
  explicit HookServer(Plans plans = {}) : plans_(std::move(plans)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server_ = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0,
                               nullptr, nullptr, &Answer, this, MHD_OPTION_SOCK_ADDR, &address,
                               MHD_OPTION_NOTIFY_COMPLETED, &Forget, nullptr, MHD_OPTION_END);
    if (server_ == nullptr) std::abort();
  }
  ~HookServer() {
    Release();
    MHD_stop_daemon(server_);
  }

  std::string url(const std::string& path = "/hook") const {
    return "http://127.0.0.1:" +
           std::to_string(MHD_get_daemon_info(server_, MHD_DAEMON_INFO_BIND_PORT)->port) + path;
  }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // Waits until `count` requests have arrived. Returns false after a timeout.
  bool WaitFor(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return requests_.size() >= count; });
  }
  // Responds to waiting requests, and immediately to all later requests.
  void Release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

 private:
  static MHD_Result AddHeader(void* to, MHD_ValueKind, const char* name, const char* value) {
    static_cast<Request*>(to)->headers[name] = value;
    return MHD_YES;
  }
  static void Forget(void*, MHD_Connection*, void** request, MHD_RequestTerminationCode) {
    delete static_cast<Request*>(*request);
    *request = nullptr;
  }
  static MHD_Result Answer(void* self, MHD_Connection* connection, const char*, const char*,
                           const char*, const char* data, std::size_t* size, void** state) {
    auto* request = static_cast<Request*>(*state);
    if (request == nullptr) {
      *state = new Request;
      return MHD_YES;
    }
    if (*size > 0) {
      request->body.append(data, *size);
      *size = 0;
      return MHD_YES;
    }
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &AddHeader, request);
    return static_cast<HookServer*>(self)->Take(*request, connection);
  }
  static ssize_t SendForEver(void*, std::uint64_t, char* buffer, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    *buffer = '.';
    return 1;
  }
  MHD_Result Take(const Request& request, MHD_Connection* connection) {
    Plan plan;
    {
      std::unique_lock lock(mutex_);
      if (!plans_.empty()) {
        plan = plans_.front();
        plans_.pop_front();
      }
      requests_.push_back(request);
      changed_.notify_all();
      changed_.wait(lock, [&] { return !plan.is_held || is_released_; });
    }
    if (plan.status == 0) return MHD_NO;
    MHD_Response* response =
        plan.is_endless ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64, &SendForEver,
                                                            nullptr, nullptr)
                        : MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
    if (!plan.retry_after.empty()) {
      MHD_add_response_header(response, "Retry-After", plan.retry_after.c_str());
    }
    if (!plan.location.empty()) {
      MHD_add_response_header(response, "Location", plan.location.c_str());
    }
    const MHD_Result result = MHD_queue_response(connection, plan.status, response);
    MHD_destroy_response(response);
    return result;
  }

  MHD_Daemon* server_ = nullptr;
  mutable std::mutex mutex_;  // Guards the members below.
  mutable std::condition_variable changed_;
  Plans plans_;
  std::vector<Request> requests_;
  bool is_released_ = false;
};

}  // namespace tidemark::test
