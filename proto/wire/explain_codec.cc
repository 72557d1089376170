#include "proto/wire/explain_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "proto/wire/job_request.h"
#include "proto/wire/message_time.h"
#include "proto/wire/task_codec.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/explain_service.pb.h"

namespace tidemark::wire {
namespace {

constexpr std::uint32_t kCulprits = 3;
constexpr std::uint32_t kCulpritsMax = 100;
// The waits of single minutes are stored for this long (master/waits/contention.h).
constexpr absl::Duration kLastMax = absl::Minutes(10);

v1::WaitedResource ToMessage(WaitReason resource) {
  return static_cast<v1::WaitedResource>(static_cast<int>(resource) + 1);
}

// Returns nullopt if the reason is unspecified or unknown.
std::optional<WaitReason> FromMessage(int message) {
  if (message < 1 || message > static_cast<int>(kWaitReasonCount)) return std::nullopt;
  return static_cast<WaitReason>(message - 1);
}

bool IsAmount(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

// Returns false unless all of it is valid.
bool IsGrowth(const DataGrowth& growth) {
  return IsAmount(growth.task_seconds) && IsAmount(growth.task_seconds_lower.value_or(0)) &&
         IsAmount(growth.task_seconds_upper.value_or(0)) && IsAmount(growth.read_bytes) &&
         IsAmount(growth.earlier_read_bytes) && IsAmount(growth.all_task_seconds);
}

void EncodeGrowth(const DataGrowth& growth, v1::DataGrowth& message) {
  message.set_task_seconds(growth.task_seconds);
  if (growth.task_seconds_lower) message.set_task_seconds_lower(*growth.task_seconds_lower);
  if (growth.task_seconds_upper) message.set_task_seconds_upper(*growth.task_seconds_upper);
  message.set_read_bytes(growth.read_bytes);
  message.set_earlier_read_bytes(growth.earlier_read_bytes);
  message.set_all_task_seconds(growth.all_task_seconds);
}

void EncodeSooner(const ContendingQuery& culprit, v1::Culprit& message) {
  const auto is_told = [](const std::optional<double>& seconds) {
    return seconds && IsAmount(*seconds);
  };
  if (is_told(culprit.sooner_seconds)) message.set_sooner_seconds(*culprit.sooner_seconds);
  if (is_told(culprit.sooner_seconds_lower)) {
    message.set_sooner_seconds_lower(*culprit.sooner_seconds_lower);
  }
  if (is_told(culprit.sooner_seconds_upper)) {
    message.set_sooner_seconds_upper(*culprit.sooner_seconds_upper);
  }
}

// Kinds are numbered alike.
v1::StageKind ToMessage(StageKind kind) {
  return static_cast<v1::StageKind>(static_cast<int>(kind));
}

StageKind StageKindOf(int message) {
  const bool is_known = message >= 0 && message <= static_cast<int>(StageKind::kGeneric);
  return is_known ? static_cast<StageKind>(message) : StageKind::kUnknown;
}

// Returns false unless all of it is valid.
bool IsLongestTask(const LongestTask& task) {
  return IsAmount(task.seconds) && IsAmount(task.mean_seconds) && IsAmount(task.group_seconds);
}

void EncodeLongestTask(const LongestTask& task, v1::LongestTask& message) {
  EncodeAttemptId(task.attempt, *message.mutable_attempt());
  message.set_kind(ToMessage(task.kind));
  message.set_host(ValidText(task.host));
  message.set_seconds(task.seconds);
  message.set_mean_seconds(task.mean_seconds);
  message.set_group_bytes(task.group_bytes);
  message.set_group_seconds(task.group_seconds);
}

void EncodeQuery(const QueryWaits& query, v1::QueryWaits& message) {
  message.set_query(ValidText(query.query));
  if (query.seconds && IsAmount(*query.seconds)) message.set_seconds(*query.seconds);
  if (query.skew_seconds && IsAmount(*query.skew_seconds)) {
    message.set_skew_seconds(*query.skew_seconds);
  }
  if (query.data_growth && IsGrowth(*query.data_growth)) {
    EncodeGrowth(*query.data_growth, *message.mutable_data_growth());
  }
  if (query.longest_task && IsLongestTask(*query.longest_task)) {
    EncodeLongestTask(*query.longest_task, *message.mutable_longest_task());
  }
  for (const WaitReason resource : kWaitReasons) {
    const QueryWait& wait = query.waits[resource];
    if (!wait.seconds || !IsAmount(*wait.seconds)) continue;
    v1::ResourceWait& told = *message.add_waits();
    told.set_resource(ToMessage(resource));
    told.set_seconds(*wait.seconds);
    told.set_is_least(wait.is_least);
  }
  for (const ContendingQuery& culprit : query.culprits) {
    if (!IsAmount(culprit.seconds)) continue;
    v1::Culprit& told = *message.add_culprits();
    told.set_job_id(ValidText(culprit.job_id));
    told.set_query(ValidText(culprit.query));
    told.set_jobs(culprit.jobs);
    told.set_resource(ToMessage(culprit.resource));
    told.set_host(ValidText(culprit.host));
    told.set_seconds(culprit.seconds);
    if (culprit.seconds_lower && IsAmount(*culprit.seconds_lower)) {
      told.set_seconds_lower(*culprit.seconds_lower);
    }
    if (culprit.seconds_upper && IsAmount(*culprit.seconds_upper)) {
      told.set_seconds_upper(*culprit.seconds_upper);
    }
    EncodeSooner(culprit, told);
  }
}

absl::Status CheckAmount(const char* field, double amount) {
  if (IsAmount(amount)) return absl::OkStatus();
  return FieldError(field, fmt::format("must be a finite number, 0 or more, not {}", amount));
}

absl::StatusOr<DataGrowth> ParseGrowth(const v1::DataGrowth& message) {
  absl::Status ok = CheckAmount("task_seconds", message.task_seconds());
  ok.Update(CheckAmount("task_seconds_lower", message.task_seconds_lower()));
  ok.Update(CheckAmount("task_seconds_upper", message.task_seconds_upper()));
  ok.Update(CheckAmount("read_bytes", message.read_bytes()));
  ok.Update(CheckAmount("earlier_read_bytes", message.earlier_read_bytes()));
  ok.Update(CheckAmount("all_task_seconds", message.all_task_seconds()));
  if (!ok.ok()) return ok;
  DataGrowth growth = {.task_seconds = message.task_seconds(),
                       .read_bytes = message.read_bytes(),
                       .earlier_read_bytes = message.earlier_read_bytes(),
                       .all_task_seconds = message.all_task_seconds()};
  if (message.has_task_seconds_lower()) growth.task_seconds_lower = message.task_seconds_lower();
  if (message.has_task_seconds_upper()) growth.task_seconds_upper = message.task_seconds_upper();
  return growth;
}

absl::StatusOr<LongestTask> ParseLongestTask(const v1::LongestTask& message) {
  absl::Status ok = CheckAmount("seconds", message.seconds());
  ok.Update(CheckAmount("mean_seconds", message.mean_seconds()));
  ok.Update(CheckAmount("group_seconds", message.group_seconds()));
  if (!ok.ok()) return ok;
  return LongestTask{.attempt = DecodeAttemptId(message.attempt()),
                     .kind = StageKindOf(message.kind()),
                     .host = ValidText(message.host()),
                     .seconds = message.seconds(),
                     .mean_seconds = message.mean_seconds(),
                     .group_bytes = message.group_bytes(),
                     .group_seconds = message.group_seconds()};
}

absl::StatusOr<QueryWaits> ParseQuery(const v1::QueryWaits& message) {
  QueryWaits query = {.query = ValidText(message.query())};
  if (message.has_seconds()) {
    if (absl::Status ok = CheckAmount("seconds", message.seconds()); !ok.ok()) return ok;
    query.seconds = message.seconds();
  }
  if (message.has_skew_seconds()) {
    if (absl::Status ok = CheckAmount("skew_seconds", message.skew_seconds()); !ok.ok()) return ok;
    query.skew_seconds = message.skew_seconds();
  }
  if (message.has_data_growth()) {
    const auto growth = ParseGrowth(message.data_growth());
    if (!growth.ok()) return FieldErrorWithin("data_growth", growth.status());
    query.data_growth = *growth;
  }
  if (message.has_longest_task()) {
    absl::StatusOr<LongestTask> task = ParseLongestTask(message.longest_task());
    if (!task.ok()) return FieldErrorWithin("longest_task", task.status());
    query.longest_task = *std::move(task);
  }
  for (int i = 0; i < message.waits_size(); ++i) {
    const v1::ResourceWait& told = message.waits(i);
    if (absl::Status ok = CheckAmount("seconds", told.seconds()); !ok.ok()) {
      return FieldErrorWithin(fmt::format("waits[{}]", i), ok);
    }
    const auto resource = FromMessage(told.resource());
    if (resource) query.waits[*resource] = {told.seconds(), told.is_least()};
  }
  for (int i = 0; i < message.culprits_size(); ++i) {
    const v1::Culprit& told = message.culprits(i);
    absl::Status ok = CheckAmount("seconds", told.seconds());
    if (ok.ok()) ok = CheckAmount("seconds_lower", told.seconds_lower());
    if (ok.ok()) ok = CheckAmount("seconds_upper", told.seconds_upper());
    if (ok.ok()) ok = CheckAmount("sooner_seconds", told.sooner_seconds());
    if (ok.ok()) ok = CheckAmount("sooner_seconds_lower", told.sooner_seconds_lower());
    if (ok.ok()) ok = CheckAmount("sooner_seconds_upper", told.sooner_seconds_upper());
    if (!ok.ok()) return FieldErrorWithin(fmt::format("culprits[{}]", i), ok);
    const auto resource = FromMessage(told.resource());
    if (!resource) continue;
    query.culprits.push_back({.job_id = ValidText(told.job_id()),
                              .query = ValidText(told.query()),
                              .jobs = told.jobs(),
                              .resource = *resource,
                              .host = ValidText(told.host()),
                              .seconds = told.seconds()});
    ContendingQuery& culprit = query.culprits.back();
    if (told.has_seconds_lower()) culprit.seconds_lower = told.seconds_lower();
    if (told.has_seconds_upper()) culprit.seconds_upper = told.seconds_upper();
    if (told.has_sooner_seconds()) culprit.sooner_seconds = told.sooner_seconds();
    if (told.has_sooner_seconds_lower()) culprit.sooner_seconds_lower = told.sooner_seconds_lower();
    if (told.has_sooner_seconds_upper()) culprit.sooner_seconds_upper = told.sooner_seconds_upper();
  }
  return query;
}

}  // namespace

void EncodeExplanation(const Explanation& explanation, v1::Explanation& message) {
  message.Clear();
  message.set_job_id(ValidText(explanation.job_id));
  message.set_run_uid(ValidText(explanation.run_uid));
  EncodeTime(explanation.at, *message.mutable_at());
  EncodeTime(explanation.since, *message.mutable_since());
  message.set_is_partial(explanation.is_partial);
  message.set_queries_left_out(explanation.queries_left_out);
  message.set_has_ended(explanation.has_ended);
  message.set_more_to_come(explanation.more_to_come);
  for (const QueryWaits& query : explanation.queries) EncodeQuery(query, *message.add_queries());
  for (const std::string& host : explanation.hosts) message.add_hosts(ValidText(host));
}

absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message) {
  const auto at = ParseTime(message.at(), "at");
  if (!at.ok()) return at.status();
  const auto since = ParseTime(message.since(), "since");
  if (!since.ok()) return since.status();
  Explanation explanation = {.job_id = ValidText(message.job_id()),
                             .run_uid = ValidText(message.run_uid()),
                             .at = *at,
                             .since = *since,
                             .is_partial = message.is_partial(),
                             .queries = {},
                             .queries_left_out = message.queries_left_out(),
                             .has_ended = message.has_ended(),
                             .more_to_come = message.more_to_come(),
                             .hosts = {}};
  for (int i = 0; i < message.queries_size(); ++i) {
    absl::StatusOr<QueryWaits> query = ParseQuery(message.queries(i));
    if (!query.ok()) return FieldErrorWithin(fmt::format("queries[{}]", i), query.status());
    explanation.queries.push_back(*std::move(query));
  }
  for (const std::string& host : message.hosts()) explanation.hosts.push_back(ValidText(host));
  return explanation;
}

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message) {
  message.set_job_id(job_id);
  message.set_query(question.query);
  message.set_host(question.host);
  message.set_culprits_max(
      static_cast<std::uint32_t>(std::min<std::size_t>(question.culprits_max, kCulpritsMax)));
  if (question.resource) message.set_resource(ToMessage(*question.resource));
  if (question.last) EncodeDuration(*question.last, *message.mutable_last());
}

absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted) {
  if (absl::Status ok = CheckId("job_id", untrusted.job_id()); !ok.ok()) return ok;
  if (absl::Status ok = CheckText("query", untrusted.query()); !ok.ok()) return ok;
  if (absl::Status ok = CheckText("host", untrusted.host()); !ok.ok()) return ok;
  ExplainQuestion question = {.query = untrusted.query(), .host = untrusted.host()};
  if (untrusted.resource() != v1::WAITED_RESOURCE_UNSPECIFIED) {
    question.resource = FromMessage(untrusted.resource());
    if (!question.resource) {
      return FieldError("resource", fmt::format("must be a value that this version knows, not {}",
                                                static_cast<int>(untrusted.resource())));
    }
  }
  if (question.resource == WaitReason::kSlots && !question.host.empty()) {
    return FieldError("host",
                      "slots belong to no host; ask about another resource, or without host");
  }
  if (untrusted.culprits_max() > kCulpritsMax) {
    return FieldError("culprits_max", fmt::format("must be at most {}, not {}", kCulpritsMax,
                                                  untrusted.culprits_max()));
  }
  question.culprits_max = untrusted.culprits_max() == 0 ? kCulprits : untrusted.culprits_max();
  if (untrusted.has_last()) {
    const auto last = ParseElapsed(untrusted.last(), "last");
    if (!last.ok() || *last <= absl::ZeroDuration() || *last > kLastMax) {
      return FieldError("last", "must be above 0 and at most 600 s");
    }
    question.last = *last;
  }
  return std::pair(untrusted.job_id(), question);
}

}  // namespace tidemark::wire
