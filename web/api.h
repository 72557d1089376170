// The API of the page. Each request becomes a call of JobService on an in-process channel, with the
// token of the client. Access rules, limits and numbers are therefore the same as in gRPC.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "tidemark/v1/explain_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "web/event_stream.h"
#include "web/http_exchange.h"
#include "web/routes.h"
#include "web/shared_updates.h"
#include "web/words.h"

namespace tidemark::web {

// Chosen by hand, so that a session outlasts a working day.
inline constexpr absl::Duration kSessionLife = absl::Hours(12);

// The tokens of users who have signed in, by the random name in their cookie. URLs, logs and
// scripts therefore never contain a token. Sessions are in memory; after a restart users sign in
// again. Thread-safe.
class Sessions {
 public:
  explicit Sessions(std::size_t sessions_max = 1000) : sessions_max_(sessions_max) {}

  // Returns the name of a new session: 64 hexadecimal digits from the random numbers of the system,
  // or nullopt if these are unavailable. At the limit the oldest session ends.
  std::optional<std::string> Open(std::string token, absl::Time now);
  // Returns the token, or an empty string if no such session exists or if it has expired.
  std::string TokenOf(const std::string& name, absl::Time now);
  void Close(const std::string& name);

 private:
  struct Session {
    std::string token;
    absl::Time ends_at;
  };
  const std::size_t sessions_max_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
};

// An asynchronous call of a service.
template <typename Service, typename Request, typename Response>
using Method = void (Service::*)(grpc::ClientContext*, const Request*, Response*,
                                 std::function<void(grpc::Status)>);

// A request to the master, its caller, and its timeout.
template <typename Request>
struct Question {
  Request request;
  std::string authorization;
  std::chrono::seconds answer_within{10};
};

struct ApiOptions {
  std::shared_ptr<grpc::Channel> master;
  WordsOf words_of;
  AddTaskWords add_task_words;
  AddExplanationWords add_explanation_words;
  AddContentionWords add_contention_words;
  std::string version;
  std::string cookie;       // name of the session cookie
  bool has_tokens = false;  // whether the master requires tokens
  bool has_tls = false;
};

// Thread-safe. Must outlive the requests that it handles.
class Api {
 public:
  explicit Api(ApiOptions options);
  // Blocks until its threads, which use the members below, are idle.
  ~Api() { workers_->turns.Stop(); }
  // Responds to a request for a route of the API.
  void Handle(const FoundRoute& found, const std::shared_ptr<Exchange>& exchange);

 private:
  std::string AuthorizationOf(const HttpRequest& request);
  void ListJobs(const std::shared_ptr<Exchange>& exchange);
  void GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJobs(const std::shared_ptr<Exchange>& exchange);
  void ListTasks(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ExplainCluster(const std::shared_ptr<Exchange>& exchange);
  void EstimateJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void GetSession(const std::string& authorization, const std::string& token_to_keep,
                  const std::shared_ptr<Exchange>& exchange);
  void SignIn(const std::shared_ptr<Exchange>& exchange);
  void SignOut(const std::shared_ptr<Exchange>& exchange);
  v1::JobWords Words(const tidemark::v1::Snapshot& snapshot) const;
  std::string Cookie(const std::string& value, absl::Duration life) const;

  template <typename Service, typename Request, typename Response, typename AnswerOf>
  void Ask(Service& service, Method<Service, Request, Response> method, Question<Request> question,
           const std::string& turn, const std::shared_ptr<Exchange>& exchange, AnswerOf answer_of);

  const ApiOptions options_;
  const std::unique_ptr<tidemark::v1::JobService::Stub> stub_;
  const std::unique_ptr<tidemark::v1::ExplainService::Stub> explain_stub_;
  Sessions sessions_;
  SharedUpdates updates_;
  // The last member, since its threads use all others. Calls that end later do nothing.
  const std::shared_ptr<EventWorkers> workers_ = std::make_shared<EventWorkers>();
};

}  // namespace tidemark::web
