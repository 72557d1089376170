// The API behind the page: each request becomes a call of JobService on a channel within the
// process, with the token of who asks. So there is one rule of who may read what, one set of limits
// and one source of numbers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tidemark/v1/explain_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "web/event_stream.h"
#include "web/http_exchange.h"
#include "web/routes.h"
#include "web/sessions.h"
#include "web/shared_updates.h"
#include "web/words.h"

namespace tidemark::web {

// The call of a service that takes a request and calls back with the status.
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
  std::string version;
  std::string cookie;       // the name
  bool has_tokens = false;  // whether the master asks for them
  bool has_tls = false;
};

// Thread-safe. Outlives what it is asked.
class Api {
 public:
  explicit Api(ApiOptions options);
  // Waits for the work of its threads, which uses the members below.
  ~Api() { workers_->turns.Stop(); }
  // Answers a request for a route of the API.
  void Take(const FoundRoute& found, const std::shared_ptr<Exchange>& exchange);

 private:
  std::string AuthorizationOf(const HttpRequest& request);
  void ListJobs(const std::shared_ptr<Exchange>& exchange);
  void GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void WatchJobs(const std::shared_ptr<Exchange>& exchange);
  void ListTasks(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
  void ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange);
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
  // Last: its threads use all above. Calls that end later find it gone.
  const std::shared_ptr<EventWorkers> workers_ = std::make_shared<EventWorkers>();
};

}  // namespace tidemark::web
