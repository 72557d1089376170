// Converts explanations, contention and their questions to and from messages
// (tidemark/v1/explain_service.proto).
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tidemark/contention.h"
#include "tidemark/explanation.h"

namespace tidemark::v1 {
class Contention;
class ContentionQuestion;
class Explanation;
class ExplainQuestion;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Encodes an explanation. Replaces invalid UTF-8, and omits invalid numbers of seconds.
void EncodeExplanation(const Explanation& explanation, v1::Explanation& message);

// Parses an explanation. Fails with InvalidArgument (FieldError), which names the first amount that
// is negative or not finite. Omits unknown resources.
absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message);

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message);

// Returns the job and the question. Rounds `last` up to whole minutes. Fails with InvalidArgument
// (FieldError) if there is no id, if a text exceeds kTextBytesMax, if the resource is unknown, if
// slots are combined with a host, or if `last` is not in (0, 10 min]. `because_of` may contain a
// job and a query of kTextBytesMax each.
absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted);

void EncodeContention(const ClusterContention& contention, v1::Contention& message);
absl::StatusOr<ClusterContention> ParseContention(const v1::Contention& message);
void EncodeContentionQuestion(const ContentionQuestion& question, v1::ContentionQuestion& message);
// Fails with InvalidArgument (FieldError) in the same cases as ParseQuestion(), and also for a
// query without a job.
absl::StatusOr<ContentionQuestion> ParseContentionQuestion(const v1::ContentionQuestion& untrusted);

}  // namespace tidemark::wire
