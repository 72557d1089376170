#include "web/api.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "proto/wire/job_codec.h"
#include "web/json.h"
#include "web/request.h"

namespace tidemark::web {
namespace {

using JobCalls = class tidemark::v1::JobService::Stub::async;
using ExplainCalls = class tidemark::v1::ExplainService::Stub::async;

constexpr std::chrono::seconds kEstimateWithin(60);
// A token has at most 1,024 characters.
constexpr std::size_t kAuthorizationMax = 2048;

// Returns true for text that gRPC accepts as metadata. Other text would abort the process.
bool IsPrintable(const std::string& text) {
  return text.size() <= kAuthorizationMax &&
         std::ranges::all_of(text, [](char letter) { return letter >= 0x20 && letter <= 0x7e; });
}

std::unique_ptr<grpc::ClientContext> ContextOf(const std::string& authorization) {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!authorization.empty() && IsPrintable(authorization)) {
    context->AddMetadata("authorization", authorization);
  }
  return context;
}

absl::Status CheckJsonBody(const HttpRequest& request) {
  if (request.content_type.starts_with("application/json")) return absl::OkStatus();
  return absl::InvalidArgumentError("send the body as Content-Type: application/json");
}

template <typename Message>
std::optional<Message> Parsed(const grpc::ByteBuffer& bytes) {
  Message message;
  grpc::Slice slice;
  const bool is_whole = bytes.DumpToSingleSlice(&slice).ok() &&
                        message.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  return is_whole ? std::optional(std::move(message)) : std::nullopt;
}

}  // namespace

// Calls the master and responds with the result of `answer_of`, or with the error. `answer_of` may
// be slow, so it runs on a thread of the page.
template <typename Service, typename Request, typename Response, typename AnswerOf>
void Api::Ask(Service& service, Method<Service, Request, Response> method,
              Question<Request> question, const std::string& turn,
              const std::shared_ptr<Exchange>& exchange, AnswerOf answer_of) {
  struct Call {
    std::unique_ptr<grpc::ClientContext> context;
    Request request;
    Response response;
  };
  auto call = std::make_shared<Call>();
  call->context = ContextOf(question.authorization);
  call->context->set_deadline(std::chrono::system_clock::now() + question.answer_within);
  call->request.Swap(&question.request);
  (service.*method)(
      call->context.get(), &call->request, &call->response,
      [call, turn, exchange, answer_of,
       weak = std::weak_ptr<EventWorkers>(workers_)](const grpc::Status& status) {
        if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
        const std::shared_ptr<EventWorkers> workers = weak.lock();
        const bool is_added =
            workers != nullptr && workers->turns.Add(turn, [call, exchange, answer_of] {
              exchange->Answer(answer_of(call->response));
            });
        if (!is_added) {
          exchange->Answer(ProblemAnswer(absl::UnavailableError("the master is shutting down")));
        }
      });
}

Api::Api(ApiOptions options)
    : options_(std::move(options)),
      stub_(tidemark::v1::JobService::NewStub(options_.master)),
      explain_stub_(tidemark::v1::ExplainService::NewStub(options_.master)),
      updates_(options_.words_of) {}

std::string Api::AuthorizationOf(const HttpRequest& request) {
  if (!request.authorization.empty() || request.session.empty()) return request.authorization;
  const std::string token = sessions_.TokenOf(request.session, absl::Now());
  return token.empty() ? "" : "Bearer " + token;
}

v1::JobWords Api::Words(const tidemark::v1::Snapshot& snapshot) const {
  const absl::StatusOr<Snapshot> value = wire::ParseSnapshot(snapshot);
  return value.ok() ? options_.words_of(*value) : v1::JobWords();
}

void Api::Handle(const FoundRoute& found, const std::shared_ptr<Exchange>& exchange) {
  switch (found.route->name) {
    case RouteName::kListJobs:
      return ListJobs(exchange);
    case RouteName::kGetJob:
      return GetJob(found.job_id, exchange);
    case RouteName::kWatchJob:
      return WatchJob(found.job_id, exchange);
    case RouteName::kWatchJobs:
      return WatchJobs(exchange);
    case RouteName::kListTasks:
      return ListTasks(found.job_id, exchange);
    case RouteName::kListForecasts:
      return ListForecasts(found.job_id, exchange);
    case RouteName::kExplainJob:
      return ExplainJob(found.job_id, exchange);
    case RouteName::kExplainCluster:
      return ExplainCluster(exchange);
    case RouteName::kEstimateJob:
      return EstimateJob(found.job_id, exchange);
    case RouteName::kGetSession:
      return GetSession(AuthorizationOf(exchange->request()), "", exchange);
    case RouteName::kSignIn:
      return SignIn(exchange);
    case RouteName::kSignOut:
      return SignOut(exchange);
    case RouteName::kOpenApi:
      return exchange->Answer({.body = OpenApiDocument(options_.version)});
  }
}

void Api::ListJobs(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::ListJobsRequest> question{.authorization = AuthorizationOf(asked)};
  if (absl::Status set = SetFields(asked.query, question.request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  Ask(*stub_->async(), &JobCalls::ListJobs, std::move(question), "", exchange,
      [this](tidemark::v1::ListJobsResponse& response) {
        v1::JobListAnswer answer;
        for (const auto& snapshot : response.snapshots()) {
          (*answer.mutable_words())[snapshot.job_id()] = Words(snapshot);
        }
        answer.mutable_list()->Swap(&response);
        return JsonAnswer(answer);
      });
}

void Api::GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::GetJobRequest> question{.authorization = AuthorizationOf(asked)};
  if (absl::Status set = SetFields(asked.query, question.request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::GetJob, std::move(question), job_id, exchange,
      [this](tidemark::v1::GetJobResponse& response) {
        v1::JobAnswer answer;
        *answer.mutable_words() = Words(response.snapshot());
        answer.mutable_snapshot()->Swap(response.mutable_snapshot());
        return JsonAnswer(answer);
      });
}

void Api::WatchJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  tidemark::v1::WatchJobRequest request;
  if (absl::Status set = SetFields(asked.query, request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  request.set_job_id(job_id);
  if (!asked.last_event_id.empty()) request.set_resume_token(asked.last_event_id);
  EventStream::Start(exchange,
                     {.channel = options_.master,
                      .method = "/tidemark.v1.JobService/WatchJob",
                      .request = request.SerializeAsString(),
                      .context = ContextOf(AuthorizationOf(asked))},
                     workers_, job_id,
                     [this, job_id, view = request.view(), before = std::string()](
                         const grpc::ByteBuffer& response) mutable -> std::optional<StreamEvent> {
                       grpc::Slice bytes;
                       if (!response.DumpToSingleSlice(&bytes).ok()) return std::nullopt;
                       auto update = updates_.Get(
                           {reinterpret_cast<const char*>(bytes.begin()), bytes.size()}, job_id,
                           view, before);
                       if (!update) return std::nullopt;
                       before = update->resume_token;
                       return StreamEvent{before, std::move(update->head), std::move(update->rest)};
                     });
}

void Api::WatchJobs(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  tidemark::v1::WatchJobsRequest request;
  if (absl::Status set = SetFields(asked.query, request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  if (!asked.last_event_id.empty()) request.set_resume_token(asked.last_event_id);
  EventStream::Start(
      exchange,
      {.channel = options_.master,
       .method = "/tidemark.v1.JobService/WatchJobs",
       .request = request.SerializeAsString(),
       .context = ContextOf(AuthorizationOf(asked))},
      workers_, "", [this](const grpc::ByteBuffer& bytes) -> std::optional<StreamEvent> {
        auto response = Parsed<tidemark::v1::WatchJobsResponse>(bytes);
        if (!response) return std::nullopt;
        const std::string token = response->resume_token();
        v1::JobListUpdate event;
        for (const auto& snapshot : response->snapshots()) {
          (*event.mutable_words())[snapshot.job_id()] = Words(snapshot);
        }
        event.mutable_update()->Swap(&*response);
        return StreamEvent{token, "", std::make_shared<const std::string>(Json(event))};
      });
}

void Api::ListTasks(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::ListTasksRequest> question{.authorization = AuthorizationOf(asked)};
  if (absl::Status set = SetFields(asked.query, question.request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::ListTasks, std::move(question), job_id, exchange,
      [this](tidemark::v1::ListTasksResponse& response) {
        v1::TasksAnswer answer;
        answer.mutable_list()->Swap(&response);
        options_.add_task_words(answer);
        return JsonAnswer(answer);
      });
}

void Api::ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::ListForecastsRequest> question{.authorization = AuthorizationOf(asked)};
  if (absl::Status set = SetFields(asked.query, question.request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::ListForecasts, std::move(question), job_id, exchange,
      [](tidemark::v1::ListForecastsResponse& response) {
        v1::ForecastsAnswer answer;
        answer.mutable_list()->Swap(&response);
        return JsonAnswer(answer);
      });
}

void Api::ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::ExplainJobRequest> question{.authorization = AuthorizationOf(asked)};
  tidemark::v1::ExplainQuestion& fields = *question.request.mutable_question();
  if (absl::Status set = SetFields(asked.query, fields); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  fields.set_job_id(job_id);
  const tidemark::v1::ExplainQuestion explained = fields;
  Ask(*explain_stub_->async(), &ExplainCalls::ExplainJob, std::move(question), job_id, exchange,
      [this, explained](tidemark::v1::ExplainJobResponse& response) {
        v1::ExplanationAnswer answer;
        answer.mutable_explanation()->Swap(response.mutable_explanation());
        options_.add_explanation_words(explained, answer);
        return JsonAnswer(answer);
      });
}

void Api::ExplainCluster(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::ExplainClusterRequest> question{.authorization = AuthorizationOf(asked)};
  if (absl::Status set = SetFields(asked.query, *question.request.mutable_question()); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  Ask(*explain_stub_->async(), &ExplainCalls::ExplainCluster, std::move(question), "", exchange,
      [this](tidemark::v1::ExplainClusterResponse& response) {
        v1::ContentionAnswer answer;
        answer.mutable_contention()->Swap(response.mutable_contention());
        options_.add_contention_words(answer);
        return JsonAnswer(answer);
      });
}

void Api::EstimateJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::EstimateJobRequest> question{.authorization = AuthorizationOf(asked),
                                                      .answer_within = kEstimateWithin};
  absl::Status status = CheckJsonBody(asked);
  if (status.ok()) status = ParseJson(asked.body, question.request);
  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::EstimateJob, std::move(question), job_id, exchange,
      [this](tidemark::v1::EstimateJobResponse& response) {
        v1::EstimateAnswer answer;
        for (const auto& outcome : response.outcomes()) {
          *answer.add_words() = Words(outcome.snapshot());
        }
        answer.mutable_estimate()->Swap(&response);
        return JsonAnswer(answer);
      });
}

// SameSite=Strict hides the cookie from other sites, HttpOnly from scripts.
std::string Api::Cookie(const std::string& value, absl::Duration life) const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", options_.cookie,
                     value, absl::ToInt64Seconds(life), options_.has_tls ? "; Secure" : "");
}

void Api::GetSession(const std::string& authorization, const std::string& token_to_keep,
                     const std::shared_ptr<Exchange>& exchange) {
  Question<tidemark::v1::GetServerInfoRequest> question{.authorization = authorization};
  Ask(*stub_->async(), &JobCalls::GetServerInfo, std::move(question), "", exchange,
      [this, token_to_keep](tidemark::v1::GetServerInfoResponse& response) {
        v1::Session session;
        session.set_version(response.version());
        session.set_instance(response.instance());
        session.set_has_tokens(options_.has_tokens);
        HttpAnswer answer = JsonAnswer(session);
        if (token_to_keep.empty()) return answer;
        const std::optional<std::string> name = sessions_.Open(token_to_keep, absl::Now());
        if (!name) {
          return ProblemAnswer(
              absl::InternalError("no random numbers are available; see the system log"));
        }
        answer.headers.emplace_back("Set-Cookie", Cookie(*name, kSessionLife));
        return answer;
      });
}

void Api::SignIn(const std::shared_ptr<Exchange>& exchange) {
  v1::SignInRequest request;
  absl::Status status = CheckJsonBody(exchange->request());
  if (status.ok()) status = ParseJson(exchange->request().body, request);
  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
  const std::string authorization = "Bearer " + request.token();
  if (request.token().empty() || !IsPrintable(authorization)) {
    return exchange->Answer(
        ProblemAnswer(absl::UnauthenticatedError("this master rejects the token")));
  }
  // If the master requires no tokens, a session has no meaning.
  GetSession(authorization, options_.has_tokens ? request.token() : "", exchange);
}

void Api::SignOut(const std::shared_ptr<Exchange>& exchange) {
  sessions_.Close(exchange->request().session);
  exchange->Answer({.status = 204, .headers = {{"Set-Cookie", Cookie("", absl::ZeroDuration())}}});
}

std::optional<std::string> Sessions::Open(std::string token, absl::Time now) {
  std::array<unsigned char, 32> random{};
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) return std::nullopt;
  std::string name(
      absl::BytesToHexString({reinterpret_cast<const char*>(random.data()), random.size()}));
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [now](const auto& each) { return each.second.ends_at <= now; });
  if (sessions_.size() >= sessions_max_) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.ends_at < b.second.ends_at; }));
  }
  sessions_[name] = {std::move(token), now + kSessionLife};
  return name;
}

std::string Sessions::TokenOf(const std::string& name, absl::Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(name);
  return found == sessions_.end() || found->second.ends_at <= now ? "" : found->second.token;
}

void Sessions::Close(const std::string& name) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(name);
}

}  // namespace tidemark::web
