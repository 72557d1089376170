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

// Encodes an explanation. Makes text valid UTF-8. Leaves out invalid numbers of seconds.
void EncodeExplanation(const Explanation& explanation, v1::Explanation& message);

// Fails with InvalidArgument (FieldError), which names the first amount that is negative or not
// finite. Unknown resources are left out.
absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message);

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message);

// Returns the job and the question. InvalidArgument (FieldError): no id, text of more than
// kTextBytesMax, an unknown resource, slots of a host, `last` outside of (0, 10 min], which is
// rounded up to whole minutes. `because_of` may hold a job and a query of kTextBytesMax each.
absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted);

// Encode and parse the contention of a cluster. Rows and lists of unknown kinds are omitted.
void EncodeContention(const ClusterContention& contention, v1::Contention& message);
absl::StatusOr<ClusterContention> ParseContention(const v1::Contention& message);
void EncodeContentionQuestion(const ContentionQuestion& question, v1::ContentionQuestion& message);
// Fails with InvalidArgument (FieldError) as ParseQuestion() does, and for a query without a job.
absl::StatusOr<ContentionQuestion> ParseContentionQuestion(const v1::ContentionQuestion& untrusted);

}  // namespace tidemark::wire
