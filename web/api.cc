#include "web/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "proto/wire/job_codec.h"
#include "web/event_stream.h"
#include "web/json.h"
#include "web/request_fields.h"

namespace tidemark::web {
namespace {

constexpr std::chrono::seconds kAnswerWithin(10);
constexpr std::chrono::seconds kEstimateWithin(60);
// A token has at most 1,024 characters.
constexpr std::size_t kAuthorizationMax = 2048;

// gRPC ends the process when metadata holds anything else.
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

}  // namespace

// One question to the master; frees itself when it is answered.
template <typename Request, typename Response>
struct Api::Call {
  std::unique_ptr<grpc::ClientContext> context;
  Request request;
  Response response;
};

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

void Api::Take(const FoundRoute& found, const std::shared_ptr<Exchange>& exchange) {
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
  auto call =
      std::make_shared<Call<tidemark::v1::ListJobsRequest, tidemark::v1::ListJobsResponse>>();
  const HttpRequest& asked = exchange->request();
  if (absl::Status set = SetFields(asked.query, call->request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  stub_->async()->ListJobs(call->context.get(), &call->request, &call->response,
                           [this, call, exchange](const grpc::Status& status) {
                             if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
                             v1::JobListAnswer answer;
                             for (const auto& snapshot : call->response.snapshots()) {
                               (*answer.mutable_words())[snapshot.job_id()] = Words(snapshot);
                             }
                             answer.mutable_list()->Swap(&call->response);
                             exchange->Answer(JsonAnswer(answer));
                           });
}

void Api::GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  auto call = std::make_shared<Call<tidemark::v1::GetJobRequest, tidemark::v1::GetJobResponse>>();
  const HttpRequest& asked = exchange->request();
  if (absl::Status set = SetFields(asked.query, call->request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  call->request.set_job_id(job_id);
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  stub_->async()->GetJob(call->context.get(), &call->request, &call->response,
                         [this, call, exchange](const grpc::Status& status) {
                           if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
                           v1::JobAnswer answer;
                           *answer.mutable_words() = Words(call->response.snapshot());
                           answer.mutable_snapshot()->Swap(call->response.mutable_snapshot());
                           exchange->Answer(JsonAnswer(answer));
                         });
}

void Api::WatchJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  using Response = tidemark::v1::WatchJobResponse;
  const HttpRequest& asked = exchange->request();
  const auto request = std::make_shared<tidemark::v1::WatchJobRequest>();
  if (absl::Status set = SetFields(asked.query, *request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  request->set_job_id(job_id);
  if (!asked.last_event_id.empty()) request->set_resume_token(asked.last_event_id);
  EventStream<Response>::Start(
      exchange, ContextOf(AuthorizationOf(asked)),
      [this, request](grpc::ClientContext& context, EventStream<Response>& stream) {
        stub_->async()->WatchJob(&context, request.get(), &stream);
      },
      [this, request,
       known = std::shared_ptr<const SharedUpdates::Known>()](const Response& response) mutable {
        const auto update = updates_.Take(response, request->view(), known);
        known = update->known;
        return StreamEvent{response.resume_token(), update->json};
      });
}

void Api::WatchJobs(const std::shared_ptr<Exchange>& exchange) {
  using Response = tidemark::v1::WatchJobsResponse;
  const HttpRequest& asked = exchange->request();
  const auto request = std::make_shared<tidemark::v1::WatchJobsRequest>();
  if (absl::Status set = SetFields(asked.query, *request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  if (!asked.last_event_id.empty()) request->set_resume_token(asked.last_event_id);
  EventStream<Response>::Start(
      exchange, ContextOf(AuthorizationOf(asked)),
      [this, request](grpc::ClientContext& context, EventStream<Response>& stream) {
        stub_->async()->WatchJobs(&context, request.get(), &stream);
      },
      [this, request](const Response& response) {
        v1::JobListUpdate event;
        *event.mutable_update() = response;
        for (const auto& snapshot : response.snapshots()) {
          (*event.mutable_words())[snapshot.job_id()] = Words(snapshot);
        }
        return StreamEvent{response.resume_token(), Json(event)};
      });
}

void Api::ListTasks(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  auto call =
      std::make_shared<Call<tidemark::v1::ListTasksRequest, tidemark::v1::ListTasksResponse>>();
  const HttpRequest& asked = exchange->request();
  if (absl::Status set = SetFields(asked.query, call->request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  call->request.set_job_id(job_id);
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  stub_->async()->ListTasks(call->context.get(), &call->request, &call->response,
                            [this, call, exchange](const grpc::Status& status) {
                              if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
                              v1::TasksAnswer answer;
                              answer.mutable_list()->Swap(&call->response);
                              options_.add_task_words(answer);
                              exchange->Answer(JsonAnswer(answer));
                            });
}

void Api::ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  auto call = std::make_shared<
      Call<tidemark::v1::ListForecastsRequest, tidemark::v1::ListForecastsResponse>>();
  const HttpRequest& asked = exchange->request();
  if (absl::Status set = SetFields(asked.query, call->request); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  call->request.set_job_id(job_id);
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  stub_->async()->ListForecasts(call->context.get(), &call->request, &call->response,
                                [call, exchange](const grpc::Status& status) {
                                  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
                                  v1::ForecastsAnswer answer;
                                  answer.mutable_list()->Swap(&call->response);
                                  exchange->Answer(JsonAnswer(answer));
                                });
}

void Api::ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  auto call =
      std::make_shared<Call<tidemark::v1::ExplainJobRequest, tidemark::v1::ExplainJobResponse>>();
  const HttpRequest& asked = exchange->request();
  tidemark::v1::ExplainQuestion& question = *call->request.mutable_question();
  if (absl::Status set = SetFields(asked.query, question); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  question.set_job_id(job_id);
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  explain_stub_->async()->ExplainJob(
      call->context.get(), &call->request, &call->response,
      [this, call, exchange](const grpc::Status& status) {
        if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
        v1::ExplanationAnswer answer;
        answer.mutable_explanation()->Swap(call->response.mutable_explanation());
        options_.add_explanation_words(answer);
        exchange->Answer(JsonAnswer(answer));
      });
}

void Api::EstimateJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  auto call =
      std::make_shared<Call<tidemark::v1::EstimateJobRequest, tidemark::v1::EstimateJobResponse>>();
  const HttpRequest& asked = exchange->request();
  absl::Status status = CheckJsonBody(asked);
  if (status.ok()) status = ParseJson(asked.body, call->request);
  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
  call->request.set_job_id(job_id);
  call->context = ContextOf(AuthorizationOf(asked));
  call->context->set_deadline(std::chrono::system_clock::now() + kEstimateWithin);
  stub_->async()->EstimateJob(call->context.get(), &call->request, &call->response,
                              [this, call, exchange](const grpc::Status& answered) {
                                if (!answered.ok())
                                  return exchange->Answer(ProblemAnswer(answered));
                                v1::EstimateAnswer answer;
                                for (const auto& outcome : call->response.outcomes()) {
                                  *answer.add_words() = Words(outcome.snapshot());
                                }
                                answer.mutable_estimate()->Swap(&call->response);
                                exchange->Answer(JsonAnswer(answer));
                              });
}

// SameSite=Strict keeps it from pages elsewhere, HttpOnly from scripts.
std::string Api::Cookie(const std::string& value, absl::Duration life) const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", options_.cookie,
                     value, absl::ToInt64Seconds(life), options_.has_tls ? "; Secure" : "");
}

void Api::GetSession(const std::string& authorization, const std::string& token_to_keep,
                     const std::shared_ptr<Exchange>& exchange) {
  auto call = std::make_shared<
      Call<tidemark::v1::GetServerInfoRequest, tidemark::v1::GetServerInfoResponse>>();
  call->context = ContextOf(authorization);
  call->context->set_deadline(std::chrono::system_clock::now() + kAnswerWithin);
  stub_->async()->GetServerInfo(
      call->context.get(), &call->request, &call->response,
      [this, call, token_to_keep, exchange](const grpc::Status& status) {
        if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
        v1::Session session;
        session.set_version(call->response.version());
        session.set_instance(call->response.instance());
        session.set_has_tokens(options_.has_tokens);
        HttpAnswer answer = JsonAnswer(session);
        if (!token_to_keep.empty()) {
          const std::optional<std::string> name = sessions_.Open(token_to_keep, absl::Now());
          if (!name) {
            return exchange->Answer(
                ProblemAnswer(absl::InternalError("no random numbers; see the system's log")));
          }
          answer.headers.emplace_back("Set-Cookie", Cookie(*name, kSessionLife));
        }
        exchange->Answer(std::move(answer));
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
        ProblemAnswer(absl::UnauthenticatedError("this master does not know the token")));
  }
  // Without tokens there is nobody to tell apart.
  GetSession(authorization, options_.has_tokens ? request.token() : "", exchange);
}

void Api::SignOut(const std::shared_ptr<Exchange>& exchange) {
  sessions_.Close(exchange->request().session);
  exchange->Answer({.status = 204, .headers = {{"Set-Cookie", Cookie("", absl::ZeroDuration())}}});
}

}  // namespace tidemark::web
