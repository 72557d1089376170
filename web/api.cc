#include "web/api.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "proto/wire/job_codec.h"
#include "tidemark/web/v1/web.pb.h"
#include "transport/listen_address.h"
#include "web/http_exchange.h"

namespace tidemark::web {
namespace {

// The approximate memory of one part of a snapshot, such as a stage.
constexpr std::size_t kPartBytes = 512;

std::size_t BytesOf(const Snapshot& snapshot) {
  return kPartBytes * (1 + snapshot.stages.size() + snapshot.children.size() +
                       snapshot.groups.size() + snapshot.named_tasks.size());
}

// Returns the part of a JobUpdate before its snapshot.
std::string HeadOf(const wire::WatchResponseHead& head) {
  tidemark::v1::WatchJobResponse response;
  response.set_skipped_snapshots(head.skipped_snapshots);
  response.set_resume_token(head.resume_token);
  response.set_restarted(head.restarted);
  std::string json = Json(response);
  json.pop_back();  // removes the closing brace
  return fmt::format(R"({{"update":{},"snapshot":)", json);
}

template <typename Words, typename IdOf>
void RemoveUnchanged(google::protobuf::RepeatedPtrField<Words>& all, const IdOf& id_of,
                     const std::map<std::string, std::string>& before,
                     std::map<std::string, std::string>& sent) {
  google::protobuf::RepeatedPtrField<Words> changed;
  for (Words& each : all) {
    const std::string id = id_of(each);
    std::string now = each.SerializeAsString();
    const auto known = before.find(id);
    const bool is_new = known == before.end() || known->second != now;
    sent[id] = std::move(now);
    if (is_new) *changed.Add() = std::move(each);
  }
  all.Swap(&changed);
}

}  // namespace

void WordChanges::RemoveKnown(v1::JobWords& words) {
  const std::map<std::string, std::string> before = std::exchange(sent_, {});
  RemoveUnchanged(
      *words.mutable_stages(),
      [](const v1::StageWords& stage) {
        return std::to_string(stage.id().child()) + "." + std::to_string(stage.id().stage());
      },
      before, sent_);
  RemoveUnchanged(
      *words.mutable_children(),
      [](const v1::ChildWords& child) { return std::to_string(child.number()); }, before, sent_);
}

std::optional<SharedUpdates::Made> SharedUpdates::Make(
    absl::string_view bytes, const std::shared_ptr<const Known>& base) const {
  tidemark::v1::WatchJobResponse response;
  if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  const bool is_delta = response.snapshot().base_sequence() != 0;
  auto known = is_delta ? std::make_shared<Known>(*base) : std::make_shared<Known>();
  const absl::StatusOr<Snapshot> whole = known->reader.Take(response);
  if (!whole.ok() && is_delta) return std::nullopt;
  Made made;
  std::string json = Json(response.snapshot()) + "}";
  if (whole.ok()) {
    v1::JobWords words = words_of_(*whole);
    made.known_bytes = BytesOf(*whole) + words.ByteSizeLong();
    known->words.RemoveKnown(words);
    made.known = std::move(known);
    json += R"(,"words":)" + Json(words);
  }
  json += "}";
  made.rest = std::make_shared<const std::string>(std::move(json));
  return made;
}

std::optional<SharedUpdates::Update> SharedUpdates::Get(absl::string_view response,
                                                        const std::string& job_id,
                                                        tidemark::v1::View view,
                                                        const std::string& before) {
  const auto head = wire::ReadWatchResponseHead(response);
  if (!head) return std::nullopt;
  const std::string line = fmt::format("{}/{}", static_cast<int>(view), job_id);
  Update update = {.head = HeadOf(*head), .resume_token = head->resume_token};
  std::shared_ptr<const Known> base;
  {
    const std::lock_guard lock(mutex_);
    if (const Version* version = Find(line, head->resume_token)) {
      const auto rest = version->rests.find(head->base_sequence);
      if (rest != version->rests.end()) {
        update.rest = rest->second;
        return update;
      }
    }
    if (head->base_sequence != 0) {
      const Version* const version = Find(line, before);
      if (version == nullptr || version->known == nullptr) return std::nullopt;
      base = version->known;
    }
  }
  const std::optional<Made> made = Make(response, base);
  if (!made) return std::nullopt;
  update.rest = made->rest;
  const std::lock_guard lock(mutex_);
  ++made_;
  Store(line, head->resume_token, head->base_sequence, *made);
  return update;
}

SharedUpdates::Version* SharedUpdates::Find(const std::string& line,
                                            const std::string& resume_token) {
  const auto known = lines_.find(line);
  if (known == lines_.end()) return nullptr;
  for (Version& version : known->second) {
    if (version.resume_token == resume_token) return &version;
  }
  return nullptr;
}

void SharedUpdates::Store(const std::string& line, const std::string& resume_token,
                          std::uint64_t base_sequence, const Made& made) {
  Version* version = Find(line, resume_token);
  if (version == nullptr) {
    Line& versions = lines_[line];
    version = &versions.emplace_back(Version{
        .resume_token = resume_token, .number = order_.empty() ? 1 : order_.rbegin()->first + 1});
    order_.emplace(version->number, line);
  }
  std::size_t bytes = 0;
  if (version->rests.emplace(base_sequence, made.rest).second) bytes += made.rest->size();
  if (version->known == nullptr && made.known != nullptr) {
    version->known = made.known;
    bytes += made.known_bytes;
  }
  version->bytes += bytes;
  bytes_ += bytes;
  if (lines_[line].size() > kVersionsMax) DropOldest(line);
  while (bytes_ > bytes_max_ && order_.size() > 1) DropOldest(std::string(order_.begin()->second));
}

void SharedUpdates::DropOldest(const std::string& line) {
  const auto versions = lines_.find(line);
  bytes_ -= versions->second.front().bytes;
  order_.erase(versions->second.front().number);
  versions->second.pop_front();
  if (versions->second.empty()) lines_.erase(versions);
}

std::uint64_t SharedUpdates::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

void OpenCalls::Free::operator()(grpc::ClientContext* context) const {
  const std::lock_guard lock(calls->mutex_);
  std::unique_ptr<grpc::ClientContext> ended(context);
  calls->open_.erase(context);
  if (calls->is_cancelling_) calls->ended_while_cancelling_.push_back(std::move(ended));
  calls->ended_.notify_all();
}

OpenCalls::Context OpenCalls::NewContext() {
  const std::lock_guard lock(mutex_);
  Context context(new grpc::ClientContext, Free{shared_from_this()});
  open_.insert(context.get());
  return context;
}

void OpenCalls::CancelAndAwait() {
  std::unique_lock lock(mutex_);
  const std::vector<grpc::ClientContext*> open(open_.begin(), open_.end());
  is_cancelling_ = true;
  for (grpc::ClientContext* const context : open) {
    if (open_.contains(context)) context->TryCancel();
  }
  is_cancelling_ = false;
  ended_while_cancelling_.clear();
  ended_.wait(lock, [this] { return open_.empty(); });
}

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

// Returns the message that has the fields of the query.
template <typename Request>
auto& FieldsOf(Request& request) {
  if constexpr (requires { request.mutable_question(); }) {
    return *request.mutable_question();
  } else {
    return request;
  }
}

}  // namespace

// Calls the master and responds with the result of `answer_of`, or with the error. `answer_of` may
// be slow, so it runs on a thread of the page. If it returns nothing, it answers the exchange.
// `on_error` replaces the answer to an error of the master.
template <typename Service, typename Request, typename Response, typename AnswerOf>
void Api::Ask(Service& service, Method<Service, Request, Response> method,
              Question<Request> question, const std::string& turn,
              const std::shared_ptr<Exchange>& exchange, AnswerOf answer_of,
              std::function<HttpAnswer(const grpc::Status&)> on_error) {
  struct Call {
    OpenCalls::Context context;
    Request request;
    Response response;
  };
  auto call = std::make_shared<Call>();
  call->context = ContextOf(question.caller);
  call->context->set_deadline(std::chrono::system_clock::now() + question.answer_within);
  call->request.Swap(&question.request);
  (service.*method)(
      call->context.get(), &call->request, &call->response,
      [call, turn, exchange, answer_of, on_error = std::move(on_error),
       weak = std::weak_ptr<EventWorkers>(workers_)](const grpc::Status& status) {
        if (!status.ok()) {
          return exchange->Answer(on_error ? on_error(status) : ProblemAnswer(status));
        }
        const std::shared_ptr<EventWorkers> workers = weak.lock();
        const bool is_added =
            workers != nullptr && workers->turns.Add(turn, [call, exchange, answer_of] {
              if constexpr (std::is_void_v<decltype(answer_of(call->request, call->response))>) {
                answer_of(call->request, call->response);
              } else {
                exchange->Answer(answer_of(call->request, call->response));
              }
            });
        if (!is_added) {
          exchange->Answer(ProblemAnswer(absl::UnavailableError("the master is shutting down")));
        }
      });
}

// Asks with the fields of the query and, unless it is empty, the id of the job.
template <typename Service, typename Request, typename Response, typename AnswerOf>
void Api::AskWithQuery(Service& service, Method<Service, Request, Response> method,
                       const std::string& job_id, const std::shared_ptr<Exchange>& exchange,
                       AnswerOf answer_of) {
  const HttpRequest& asked = exchange->request();
  Question<Request> question{.caller = CallerOf(asked)};
  auto& fields = FieldsOf(question.request);
  if (absl::Status set = SetFields(asked.query, fields); !set.ok()) {
    return exchange->Answer(ProblemAnswer(set));
  }
  if constexpr (requires { fields.set_job_id(job_id); }) {
    if (!job_id.empty()) fields.set_job_id(job_id);
  }
  Ask(service, method, std::move(question), job_id, exchange, answer_of);
}

Api::Api(WebOptions options, std::string cookie)
    : options_(std::move(options)),
      cookie_(std::move(cookie)),
      stub_(tidemark::v1::JobService::NewStub(options_.master)),
      explain_stub_(tidemark::v1::ExplainService::NewStub(options_.master)),
      updates_(options_.texts.words_of) {}

OpenCalls::Context Api::ContextOf(const Caller& caller) const {
  OpenCalls::Context context = calls_->NewContext();
  if (!caller.authorization.empty() && IsPrintable(caller.authorization)) {
    context->AddMetadata("authorization", caller.authorization);
  }
  if (!caller.peer.empty()) context->AddMetadata(transport::kPeerMetadata, caller.peer);
  return context;
}

Caller Api::CallerOf(const HttpRequest& request) {
  Caller caller = {.authorization = request.authorization, .peer = request.peer};
  if (!caller.authorization.empty() || request.session.empty()) return caller;
  const std::string token = sessions_.TokenOf(request.session, absl::Now());
  if (!token.empty()) caller.authorization = "Bearer " + token;
  return caller;
}

v1::JobWords Api::Words(const tidemark::v1::Snapshot& snapshot) const {
  const absl::StatusOr<Snapshot> value = wire::ParseSnapshot(snapshot);
  return value.ok() ? options_.texts.words_of(*value) : v1::JobWords();
}

void Api::ListJobs(const std::string&, const std::shared_ptr<Exchange>& exchange) {
  AskWithQuery(*stub_->async(), &JobCalls::ListJobs, "", exchange,
               [this](const auto&, tidemark::v1::ListJobsResponse& response) {
                 v1::JobListAnswer answer;
                 for (const auto& snapshot : response.snapshots()) {
                   (*answer.mutable_words())[snapshot.job_id()] = Words(snapshot);
                 }
                 answer.mutable_list()->Swap(&response);
                 return JsonAnswer(answer);
               });
}

void Api::GetJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  AskWithQuery(*stub_->async(), &JobCalls::GetJob, job_id, exchange,
               [this](const auto&, tidemark::v1::GetJobResponse& response) {
                 v1::JobAnswer answer;
                 *answer.mutable_words() = Words(response.snapshot());
                 answer.set_may_report(response.may_report());
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
                      .context = ContextOf(CallerOf(asked))},
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

void Api::WatchJobs(const std::string&, const std::shared_ptr<Exchange>& exchange) {
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
       .context = ContextOf(CallerOf(asked))},
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
  AskWithQuery(*stub_->async(), &JobCalls::ListTasks, job_id, exchange,
               [this](const auto&, tidemark::v1::ListTasksResponse& response) {
                 v1::TasksAnswer answer;
                 answer.mutable_list()->Swap(&response);
                 options_.texts.add_task_words(answer);
                 return JsonAnswer(answer);
               });
}

void Api::ListForecasts(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  AskWithQuery(*stub_->async(), &JobCalls::ListForecasts, job_id, exchange,
               [](const auto&, tidemark::v1::ListForecastsResponse& response) {
                 v1::ForecastsAnswer answer;
                 answer.mutable_list()->Swap(&response);
                 return JsonAnswer(answer);
               });
}

void Api::ExplainJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  AskWithQuery(*explain_stub_->async(), &ExplainCalls::ExplainJob, job_id, exchange,
               [this](const tidemark::v1::ExplainJobRequest& request,
                      tidemark::v1::ExplainJobResponse& response) {
                 v1::ExplanationAnswer answer;
                 answer.mutable_explanation()->Swap(response.mutable_explanation());
                 options_.texts.add_explanation_words(request.question(), answer);
                 return JsonAnswer(answer);
               });
}

void Api::ExplainCluster(const std::string&, const std::shared_ptr<Exchange>& exchange) {
  AskWithQuery(*explain_stub_->async(), &ExplainCalls::ExplainCluster, "", exchange,
               [this](const auto&, tidemark::v1::ExplainClusterResponse& response) {
                 v1::ContentionAnswer answer;
                 answer.mutable_contention()->Swap(response.mutable_contention());
                 options_.texts.add_contention_words(answer);
                 return JsonAnswer(answer);
               });
}

void Api::EstimateJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::EstimateJobRequest> question{.caller = CallerOf(asked),
                                                      .answer_within = kEstimateWithin};
  absl::Status status = CheckJsonBody(asked);
  if (status.ok()) status = ParseJson(asked.body, question.request);
  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::EstimateJob, std::move(question), job_id, exchange,
      [this](const auto&, tidemark::v1::EstimateJobResponse& response) {
        v1::EstimateAnswer answer;
        for (const auto& outcome : response.outcomes()) {
          *answer.add_words() = Words(outcome.snapshot());
        }
        answer.mutable_estimate()->Swap(&response);
        return JsonAnswer(answer);
      });
}

void Api::SetDeadline(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& asked = exchange->request();
  Question<tidemark::v1::SetDeadlineRequest> question{.caller = CallerOf(asked)};
  absl::Status status = CheckJsonBody(asked);
  if (status.ok()) status = ParseJson(asked.body, question.request);
  if (!status.ok()) return exchange->Answer(ProblemAnswer(status));
  question.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::SetDeadline, std::move(question), job_id, exchange,
      [](const auto&, const auto&) { return JsonAnswer(v1::DeadlineAnswer()); });
}

void Api::SummarizeJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  const Caller caller = CallerOf(exchange->request());
  Question<tidemark::v1::GetJobRequest> question{.caller = caller};
  question.request.set_job_id(job_id);
  const auto answer = [this](const Snapshot& ended,
                             const absl::StatusOr<tidemark::v1::Explanation>& waits) {
    v1::SummaryAnswer summary;
    summary.set_text(options_.texts.summary_of(ended, waits));
    return JsonAnswer(summary);
  };
  Ask(*stub_->async(), &JobCalls::GetJob, std::move(question), job_id, exchange,
      [this, job_id, caller, exchange, answer](const auto&,
                                               tidemark::v1::GetJobResponse& response) {
        const absl::StatusOr<Snapshot> job = wire::ParseSnapshot(response.snapshot());
        if (!job.ok()) return exchange->Answer(ProblemAnswer(job.status()));
        // The paragraph contains no waits of a running job or of a workflow.
        if (!job->is_final || !job->children.empty()) {
          return exchange->Answer(answer(*job, absl::CancelledError("")));
        }
        Question<tidemark::v1::ExplainJobRequest> waits{.caller = caller};
        waits.request.mutable_question()->set_job_id(job_id);
        Ask(
            *explain_stub_->async(), &ExplainCalls::ExplainJob, std::move(waits), job_id, exchange,
            [answer, ended = *job](const auto&, tidemark::v1::ExplainJobResponse& explained) {
              return answer(ended, explained.explanation());
            },
            [answer, ended = *job](const grpc::Status& status) {
              return answer(ended, absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                                                status.error_message()));
            });
      });
}

void Api::CompareJob(const std::string& job_id, const std::shared_ptr<Exchange>& exchange) {
  v1::ComparisonQuestion asked;
  absl::Status set = SetFields(exchange->request().query, asked);
  if (set.ok() && asked.other_job_id().empty()) {
    set = absl::InvalidArgumentError("other_job_id is missing; send the id of a past run");
  }
  if (!set.ok()) return exchange->Answer(ProblemAnswer(set));
  Question<tidemark::v1::GetJobRequest> question{.caller = CallerOf(exchange->request())};
  Question<tidemark::v1::GetJobRequest> next = question;
  question.request.set_job_id(asked.other_job_id());
  next.request.set_job_id(job_id);
  Ask(*stub_->async(), &JobCalls::GetJob, std::move(question), job_id, exchange,
      [this, job_id, next, exchange](const auto&, tidemark::v1::GetJobResponse& response) {
        Ask(*stub_->async(), &JobCalls::GetJob, next, job_id, exchange,
            [this, earlier = response.snapshot()](const auto&,
                                                  tidemark::v1::GetJobResponse& newest) {
              const absl::StatusOr<Snapshot> before = wire::ParseSnapshot(earlier);
              const absl::StatusOr<Snapshot> after = wire::ParseSnapshot(newest.snapshot());
              if (!before.ok()) return ProblemAnswer(before.status());
              if (!after.ok()) return ProblemAnswer(after.status());
              return JsonAnswer(options_.texts.comparison_of(*before, *after));
            });
      });
}

// SameSite=Strict hides the cookie from other sites, HttpOnly from scripts.
std::string Api::Cookie(const std::string& value, absl::Duration life) const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", cookie_, value,
                     absl::ToInt64Seconds(life),
                     options_.certificate_file.empty() ? "" : "; Secure");
}

void Api::GetOpenApi(const std::string&, const std::shared_ptr<Exchange>& exchange) {
  exchange->Answer({.body = OpenApiDocument(options_.version)});
}

void Api::GetSession(const std::string&, const std::shared_ptr<Exchange>& exchange) {
  AnswerSession(CallerOf(exchange->request()), "", exchange);
}

void Api::AnswerSession(const Caller& caller, const std::string& token_to_keep,
                        const std::shared_ptr<Exchange>& exchange) {
  Question<tidemark::v1::GetServerInfoRequest> question{.caller = caller};
  Ask(*stub_->async(), &JobCalls::GetServerInfo, std::move(question), "", exchange,
      [this, token_to_keep](const auto&, tidemark::v1::GetServerInfoResponse& response) {
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

void Api::SignIn(const std::string&, const std::shared_ptr<Exchange>& exchange) {
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
  AnswerSession({.authorization = authorization, .peer = exchange->request().peer},
                options_.has_tokens ? request.token() : "", exchange);
}

void Api::SignOut(const std::string&, const std::shared_ptr<Exchange>& exchange) {
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
