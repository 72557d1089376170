#include "cli/hadoop/rest_view.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "hadoop/task_ids.h"

namespace tidemark::cli {
namespace {

constexpr long kAnswerWithinSeconds = 10;
constexpr long kRedirectionsMax = 5;
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

// Appends received bytes. Accepting fewer bytes than received makes the call fail.
std::size_t Append(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& answer = *static_cast<std::string*>(target);
  if (answer.size() + count > kAnswerBytesMax) return 0;
  answer.append(bytes, count);
  return count;
}

// Returns why a call failed, and a remedy.
std::string CallError(const std::string& url, CURLcode code, CURL* curl) {
  long redirections = 0;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_COUNT, &redirections);
  const bool is_other_protocol = code == CURLE_UNSUPPORTED_PROTOCOL ||
                                 code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_GOT_NOTHING;
  if (redirections > 0 || !is_other_protocol) {
    return fmt::format("{}: {}", url, curl_easy_strerror(code));
  }
  const bool is_http =
      absl::StartsWithIgnoreCase(url, "http:") || absl::StartsWithIgnoreCase(url, "https:");
  if (!is_http && url.find("://") != std::string::npos) {
    return fmt::format("{}: must be an http or https URL", url);
  }
  return fmt::format(
      "{}: the server does not speak HTTP; pass the address of its web service (port 8088 by "
      "default for a resource manager)",
      url);
}

}  // namespace

struct WebClient::Handle {
  CURL* curl = curl_easy_init();
  curl_slist* headers = curl_slist_append(nullptr, "Accept: application/json");
  ~Handle() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  }
};

WebClient::WebClient() : handle_(std::make_unique<Handle>()) {}
WebClient::~WebClient() = default;

absl::StatusOr<std::string> WebClient::Get(const std::string& url) {
  CURL* curl = handle_->curl;
  if (curl == nullptr) return absl::UnavailableError("cannot start an HTTP client");
  std::string answer;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kRedirectionsMax);
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                   absl::StartsWithIgnoreCase(url, "https:") ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, handle_->headers);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kAnswerWithinSeconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    return absl::UnavailableError(CallError(url, code, curl));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == 200) return answer;
  const std::string message = fmt::format("{}: HTTP status {}", url, status);
  if (status == 404 || status == 410) return absl::NotFoundError(message);
  if (status == 401 || status == 403) {
    return absl::PermissionDeniedError(
        message + "; this web service requires authentication, which Tidemark does not support");
  }
  return absl::UnavailableError(message);
}

namespace {

using Json = nlohmann::json;

std::string TextAt(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double NumberAt(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::uint32_t CountAt(const Json& object, const char* name) {
  return static_cast<std::uint32_t>(std::clamp(NumberAt(object, name), 0.0, 4e9));
}

// Later times are invalid.
constexpr double kMillisMax = 1e15;

// Returns the time for milliseconds since the epoch. Zero and negative values mean that the event
// has not happened yet.
std::optional<absl::Time> TimeAt(const Json& object, const char* name) {
  const double millis = NumberAt(object, name);
  if (!(millis > 0) || millis > kMillisMax) return std::nullopt;
  return absl::FromUnixMillis(static_cast<std::int64_t>(millis));
}

// Calls `take` for each entry of the list `inner` in the object `outer` of the answer. A list of
// one entry may lack brackets.
template <typename Take>
absl::Status ForEach(std::string_view text, const char* outer, const char* inner,
                     const Take& take) {
  const Json answer = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto object = answer.is_object() ? answer.find(outer) : answer.end();
  if (!answer.is_object() || object == answer.end()) {
    return absl::InvalidArgumentError(fmt::format("unexpected response: {} is missing", outer));
  }
  if (!object->is_object()) return absl::OkStatus();  // null is an empty list.
  const auto list = object->find(inner);
  if (list == object->end()) return absl::OkStatus();
  if (list->is_object()) take(*list);
  if (!list->is_array()) return absl::OkStatus();
  for (const Json& entry : *list) {
    if (entry.is_object()) take(entry);
  }
  return absl::OkStatus();
}

std::optional<JobOutcome> OutcomeOf(const std::string& word) {
  static const std::map<std::string, JobOutcome> outcomes = {{"SUCCEEDED", JobOutcome::kSucceeded},
                                                             {"FAILED", JobOutcome::kFailed},
                                                             {"ERROR", JobOutcome::kFailed},
                                                             {"KILLED", JobOutcome::kKilled}};
  const auto found = outcomes.find(word);
  return found == outcomes.end() ? std::nullopt : std::optional(found->second);
}

RestState StateOf(const std::string& word) {
  static const std::map<std::string, RestState> states = {{"RUNNING", RestState::kRunning},
                                                          {"COMMIT_PENDING", RestState::kRunning},
                                                          {"SUCCEEDED", RestState::kSucceeded},
                                                          {"FAILED", RestState::kFailed},
                                                          {"KILLED", RestState::kKilled}};
  const auto found = states.find(word);
  return found == states.end() ? RestState::kWaiting : found->second;
}

}  // namespace

std::string FirstLine(std::string_view text) {
  constexpr std::size_t kBytesMax = 300;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return std::string(text.substr(0, std::min(text.find('\n'), kBytesMax)));
}

absl::StatusOr<RestApplication> ParseRestApplication(std::string_view json) {
  const Json answer = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto app = answer.is_object() ? answer.find("app") : answer.end();
  if (!answer.is_object() || app == answer.end() || !app->is_object()) {
    return absl::InvalidArgumentError("unexpected response: app is missing");
  }
  RestApplication application;
  application.name = TextAt(*app, "name");
  application.type = TextAt(*app, "applicationType");
  application.queue = TextAt(*app, "queue");
  application.state = TextAt(*app, "state");
  application.final_status = TextAt(*app, "finalStatus");
  const std::string& state = application.state;
  const std::optional<JobOutcome> outcome = OutcomeOf(application.final_status);
  application.is_over = state == "FINISHED" || state == "FAILED" || state == "KILLED" ||
                        (state.empty() && outcome.has_value());
  application.outcome = outcome.value_or(OutcomeOf(state).value_or(JobOutcome::kUnknown));
  application.diagnostics = TextAt(*app, "diagnostics");
  application.started_at = TimeAt(*app, "startedTime");
  application.finished_at = TimeAt(*app, "finishedTime");
  const double took_millis = NumberAt(*app, "elapsedTime");
  const bool is_end_implied = application.is_over && !application.finished_at;
  if (is_end_implied && application.started_at && took_millis > 0 && took_millis <= kMillisMax) {
    application.finished_at = *application.started_at + absl::Milliseconds(took_millis);
  }
  return application;
}

absl::StatusOr<std::vector<RestJob>> ParseRestJobs(std::string_view json) {
  std::vector<RestJob> jobs;
  const absl::Status status = ForEach(json, "jobs", "job", [&](const Json& entry) {
    RestJob& job = jobs.emplace_back();
    job.id = TextAt(entry, "id");
    job.name = TextAt(entry, "name");
    job.started_at = TimeAt(entry, "startTime");
    job.finished_at = TimeAt(entry, "finishTime");
    job.map_tasks = CountAt(entry, "mapsTotal");
    job.reduce_tasks = CountAt(entry, "reducesTotal");
    job.state = TextAt(entry, "state");
    job.outcome = OutcomeOf(job.state);
    job.diagnostics = TextAt(entry, "diagnostics");
  });
  if (!status.ok()) return status;
  return jobs;
}

absl::StatusOr<std::vector<RestTask>> ParseRestTasks(std::string_view json) {
  std::vector<RestTask> tasks;
  const absl::Status status = ForEach(json, "tasks", "task", [&](const Json& entry) {
    const std::string id = TextAt(entry, "id");
    const std::optional<AttemptId> parsed = hadoop::ParseTaskId(id);
    if (!parsed) return;
    RestTask task{.id = id, .stage = parsed->stage, .index = parsed->index};
    task.state = StateOf(TextAt(entry, "state"));
    task.started_at = TimeAt(entry, "startTime");
    task.finished_at = TimeAt(entry, "finishTime");
    if (const auto attempt = hadoop::ParseAttemptId(TextAt(entry, "successfulAttempt"))) {
      task.successful_attempt = attempt->attempt;
    }
    tasks.push_back(task);
  });
  if (!status.ok()) return status;
  return tasks;
}

absl::StatusOr<std::vector<RestAttempt>> ParseRestAttempts(std::string_view json) {
  std::vector<RestAttempt> attempts;
  const absl::Status status = ForEach(json, "taskAttempts", "taskAttempt", [&](const Json& entry) {
    const std::optional<AttemptId> id = hadoop::ParseAttemptId(TextAt(entry, "id"));
    if (!id) return;
    RestAttempt attempt{.id = *id};
    attempt.state = StateOf(TextAt(entry, "state"));
    attempt.fraction_done = std::clamp(NumberAt(entry, "progress") / 100, 0.0, 1.0);
    const std::string host = TextAt(entry, "nodeHttpAddress");
    attempt.host = host.substr(0, host.rfind(':'));
    attempt.started_at = TimeAt(entry, "startTime");
    attempt.sorted_at = TimeAt(entry, "mergeFinishTime");
    attempt.finished_at = TimeAt(entry, "finishTime");
    attempt.diagnostics = TextAt(entry, "diagnostics");
    attempts.push_back(attempt);
  });
  if (!status.ok()) return status;
  return attempts;
}

}  // namespace tidemark::cli
