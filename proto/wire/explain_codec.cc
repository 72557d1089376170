#include "proto/wire/explain_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "proto/wire/fields.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/job_fields.h"
#include "proto/wire/message_time.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/explain_service.pb.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<DataGrowth> V>
void Fields(Io& io, V& growth) {
  io.Amount("task_seconds", growth.task_seconds);
  io.Amount("task_seconds_lower", growth.task_seconds_lower);
  io.Amount("task_seconds_upper", growth.task_seconds_upper);
  io.Amount("read_bytes", growth.read_bytes);
  io.Amount("earlier_read_bytes", growth.earlier_read_bytes);
  io.Amount("all_task_seconds", growth.all_task_seconds);
}

template <class Io, wire::ConstOrNot<LongestTask> V>
void Fields(Io& io, V& task) {
  io("attempt", task.attempt);
  io("kind", task.kind);
  io("host", task.host);
  io.Amount("seconds", task.seconds);
  io.Amount("mean_seconds", task.mean_seconds);
  io("group_bytes", task.group_bytes);
  io.Amount("group_seconds", task.group_seconds);
}

// Maps all fields except the resource, which has other numbers in messages.
template <class Io, wire::ConstOrNot<ContendingQuery> V>
void Fields(Io& io, V& culprit) {
  io("job_id", culprit.job_id);
  io("query", culprit.query);
  io("jobs", culprit.jobs);
  io("host", culprit.host);
  io.Amount("seconds", culprit.seconds);
  io.Amount("seconds_lower", culprit.seconds_lower);
  io.Amount("seconds_upper", culprit.seconds_upper);
  io.Amount("sooner_seconds", culprit.sooner_seconds);
  io.Amount("sooner_seconds_lower", culprit.sooner_seconds_lower);
  io.Amount("sooner_seconds_upper", culprit.sooner_seconds_upper);
}

template <class Io, wire::ConstOrNot<ContentionParty> V>
void Fields(Io& io, V& party) {
  io("job_id", party.job_id);
  io("query", party.query);
  io("jobs", party.jobs);
  io("stage", party.stage);
}

template <class Io, wire::ConstOrNot<LimitedAmount> V>
void Fields(Io& io, V& amount) {
  io.Amount("value", amount.value);
  io.Amount("lower", amount.lower);
  io.Amount("upper", amount.upper);
}

template <class Io, wire::ConstOrNot<ContentionRow> V>
void Fields(Io& io, V& row) {
  io("delayed", row.delayed);
  io("cause", row.cause);
  io.FromOne("resource", row.resource);
  io("host", row.host);
  io("seconds", row.seconds);
  io("share", row.share);
  io.Amount("responsibility", row.responsibility);
  io.Amount("impact", row.impact);
  io("queries", row.queries);
}

template <class Io, wire::ConstOrNot<ContentionList> V>
void Fields(Io& io, V& list) {
  io.FromOne("kind", list.kind);
  io("rows", list.rows);
  io("left_out", list.left_out);
}

// Maps all fields except the lists.
template <class Io, wire::ConstOrNot<ClusterContention> V>
void Fields(Io& io, V& contention) {
  io("at", contention.at);
  io("since", contention.since);
  io("is_partial", contention.is_partial);
  io("jobs", contention.jobs);
}

// Maps all fields except waits and contending queries.
template <class Io, wire::ConstOrNot<QueryWaits> V>
void Fields(Io& io, V& query) {
  io("query", query.query);
  io.Amount("seconds", query.seconds);
  io.Amount("skew_seconds", query.skew_seconds);
  io("longest_task", query.longest_task);
  io("data_growth", query.data_growth);
}

// Maps all fields except queries.
template <class Io, wire::ConstOrNot<Explanation> V>
void Fields(Io& io, V& explanation) {
  io("job_id", explanation.job_id);
  io("run_uid", explanation.run_uid);
  io("at", explanation.at);
  io("since", explanation.since);
  io("is_partial", explanation.is_partial);
  io("queries_left_out", explanation.queries_left_out);
  io("has_ended", explanation.has_ended);
  io("more_to_come", explanation.more_to_come);
  io("hosts", explanation.hosts);
}

}  // namespace tidemark

namespace tidemark::wire {
namespace {

constexpr std::uint32_t kCulprits = 3;
constexpr std::uint32_t kRowsMax = 100;
constexpr std::size_t kBecauseOfBytesMax = 2 * kTextBytesMax + 1;  // for JOB/QUERY
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

bool IsAmount(double amount) { return std::isfinite(amount) && amount >= 0; }

void DropInvalid(std::optional<double>& seconds) {
  if (seconds && !IsAmount(*seconds)) seconds.reset();
}

bool IsValid(const DataGrowth& growth) {
  return IsAmount(growth.task_seconds) && IsAmount(growth.task_seconds_lower.value_or(0)) &&
         IsAmount(growth.task_seconds_upper.value_or(0)) && IsAmount(growth.read_bytes) &&
         IsAmount(growth.earlier_read_bytes) && IsAmount(growth.all_task_seconds);
}
bool IsValid(const LongestTask& task) {
  return IsAmount(task.seconds) && IsAmount(task.mean_seconds) && IsAmount(task.group_seconds);
}

void EncodeQuery(QueryWaits query, v1::QueryWaits& message) {
  DropInvalid(query.seconds);
  DropInvalid(query.skew_seconds);
  if (query.data_growth && !IsValid(*query.data_growth)) query.data_growth.reset();
  if (query.longest_task && !IsValid(*query.longest_task)) query.longest_task.reset();
  EncodeFields(query, message);
  for (const WaitReason resource : kWaitReasons) {
    const QueryWait& wait = query.waits[resource];
    if (!wait.seconds || !IsAmount(*wait.seconds)) continue;
    v1::ResourceWait& encoded = *message.add_waits();
    encoded.set_resource(ToMessage(resource));
    encoded.set_seconds(*wait.seconds);
    encoded.set_is_least(wait.is_least);
  }
  for (ContendingQuery& culprit : query.culprits) {
    if (!IsAmount(culprit.seconds)) continue;
    for (std::optional<double>* seconds :
         {&culprit.seconds_lower, &culprit.seconds_upper, &culprit.sooner_seconds,
          &culprit.sooner_seconds_lower, &culprit.sooner_seconds_upper}) {
      DropInvalid(*seconds);
    }
    v1::Culprit& encoded = *message.add_culprits();
    EncodeFields(culprit, encoded);
    encoded.set_resource(ToMessage(culprit.resource));
  }
}

absl::StatusOr<QueryWaits> ParseQuery(const v1::QueryWaits& message) {
  absl::StatusOr<QueryWaits> query = Parse<QueryWaits>(message, /*is_strict=*/false);
  if (!query.ok()) return query;
  for (int i = 0; i < message.waits_size(); ++i) {
    const v1::ResourceWait& wait = message.waits(i);
    if (!IsAmount(wait.seconds())) {
      return FieldError(fmt::format("waits[{}].seconds", i),
                        fmt::format("must be 0 or more, not {}", wait.seconds()));
    }
    const auto resource = FromMessage(wait.resource());
    if (resource) query->waits[*resource] = {wait.seconds(), wait.is_least()};
  }
  for (int i = 0; i < message.culprits_size(); ++i) {
    auto culprit = Parse<ContendingQuery>(message.culprits(i), /*is_strict=*/false);
    if (!culprit.ok()) return FieldErrorWithin(fmt::format("culprits[{}]", i), culprit.status());
    const auto resource = FromMessage(message.culprits(i).resource());
    if (!resource) continue;
    culprit->resource = *resource;
    query->culprits.push_back(*std::move(culprit));
  }
  return query;
}

// Parses the fields that both kinds of questions have: the query, the resource, the host and the
// time.
template <typename Message, typename Question>
absl::Status ParseScope(const Message& untrusted, Question& question) {
  if (absl::Status ok = CheckText("query", untrusted.query()); !ok.ok()) return ok;
  if (absl::Status ok = CheckText("host", untrusted.host()); !ok.ok()) return ok;
  question.query = untrusted.query();
  question.host = untrusted.host();
  if (untrusted.resource() != v1::WAITED_RESOURCE_UNSPECIFIED) {
    question.resource = FromMessage(untrusted.resource());
    if (!question.resource) {
      return FieldError("resource",
                        fmt::format("must be a value that this version supports, not {}",
                                    static_cast<int>(untrusted.resource())));
    }
  }
  if (question.resource == WaitReason::kSlots && !question.host.empty()) {
    return FieldError("host", "slots belong to no host; pass another resource, or omit host");
  }
  if (untrusted.has_last()) {
    const auto last = ParseElapsed(untrusted.last(), "last");
    if (!last.ok() || *last <= absl::ZeroDuration() || *last > kLastMax) {
      return FieldError("last", "must be positive and at most 600 s");
    }
    question.last = absl::Ceil(*last, absl::Minutes(1));  // Waits are summed over whole minutes.
  }
  return absl::OkStatus();
}

}  // namespace

void EncodeExplanation(const Explanation& explanation, v1::Explanation& message) {
  Encode(explanation, message);
  for (const QueryWaits& query : explanation.queries) EncodeQuery(query, *message.add_queries());
}

absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message) {
  auto explanation = Parse<Explanation>(message, /*is_strict=*/false);
  if (!explanation.ok()) return explanation;
  for (int i = 0; i < message.queries_size(); ++i) {
    absl::StatusOr<QueryWaits> query = ParseQuery(message.queries(i));
    if (!query.ok()) return FieldErrorWithin(fmt::format("queries[{}]", i), query.status());
    explanation->queries.push_back(*std::move(query));
  }
  return explanation;
}

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message) {
  message.set_job_id(job_id);
  message.set_query(question.query);
  message.set_host(question.host);
  message.set_because_of(question.because_of);
  message.set_culprits_max(
      static_cast<std::uint32_t>(std::min<std::size_t>(question.culprits_max, kRowsMax)));
  if (question.resource) message.set_resource(ToMessage(*question.resource));
  if (question.last) EncodeDuration(*question.last, *message.mutable_last());
}

absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted) {
  if (absl::Status ok = CheckId("job_id", untrusted.job_id()); !ok.ok()) return ok;
  if (untrusted.because_of().size() > kBecauseOfBytesMax) {
    return FieldError("because_of", fmt::format("must have at most {} bytes, not {}",
                                                kBecauseOfBytesMax, untrusted.because_of().size()));
  }
  ExplainQuestion question = {.because_of = untrusted.because_of()};
  if (absl::Status ok = ParseScope(untrusted, question); !ok.ok()) return ok;
  if (untrusted.culprits_max() > kRowsMax) {
    return FieldError("culprits_max", fmt::format("must be at most {}, not {}", kRowsMax,
                                                  untrusted.culprits_max()));
  }
  question.culprits_max = untrusted.culprits_max() == 0 ? kCulprits : untrusted.culprits_max();
  return std::pair(untrusted.job_id(), question);
}

void EncodeContention(const ClusterContention& contention, v1::Contention& message) {
  Encode(contention, message);
  for (const ContentionList& list : contention.lists) EncodeFields(list, *message.add_lists());
}

absl::StatusOr<ClusterContention> ParseContention(const v1::Contention& message) {
  auto contention = Parse<ClusterContention>(message, /*is_strict=*/false);
  if (!contention.ok()) return contention;
  for (int i = 0; i < message.lists_size(); ++i) {
    if (!v1::ContentionListKind_IsValid(message.lists(i).kind()) || message.lists(i).kind() == 0) {
      continue;
    }
    auto list = Parse<ContentionList>(message.lists(i), /*is_strict=*/false);
    if (!list.ok()) return FieldErrorWithin(fmt::format("lists[{}]", i), list.status());
    contention->lists.push_back(*std::move(list));
  }
  return contention;
}

void EncodeContentionQuestion(const ContentionQuestion& question, v1::ContentionQuestion& message) {
  message.set_job_id(question.job_id);
  message.set_query(question.query);
  message.set_host(question.host);
  message.set_rows_max(
      static_cast<std::uint32_t>(std::min<std::size_t>(question.rows_max, kRowsMax)));
  if (question.resource) message.set_resource(ToMessage(*question.resource));
  if (question.last) EncodeDuration(*question.last, *message.mutable_last());
}

absl::StatusOr<ContentionQuestion> ParseContentionQuestion(
    const v1::ContentionQuestion& untrusted) {
  if (!untrusted.job_id().empty()) {
    if (absl::Status ok = CheckId("job_id", untrusted.job_id()); !ok.ok()) return ok;
  } else if (!untrusted.query().empty()) {
    return FieldError("query", "requires job_id");
  }
  ContentionQuestion question = {.job_id = untrusted.job_id()};
  if (absl::Status ok = ParseScope(untrusted, question); !ok.ok()) return ok;
  if (untrusted.rows_max() > kRowsMax) {
    return FieldError("rows_max",
                      fmt::format("must be at most {}, not {}", kRowsMax, untrusted.rows_max()));
  }
  if (untrusted.rows_max() > 0) question.rows_max = untrusted.rows_max();
  return question;
}

}  // namespace tidemark::wire
