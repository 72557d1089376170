// Converts explanations and their questions to and from messages
// (tidemark/v1/explain_service.proto).
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tidemark/explanation.h"

namespace tidemark::v1 {
class Explanation;
class ExplainQuestion;
}  // namespace tidemark::v1

namespace tidemark::wire {

// Makes text valid UTF-8. Leaves out numbers of seconds that are not valid.
void EncodeExplanation(const Explanation& explanation, v1::Explanation& message);

// InvalidArgument (FieldError) names the first amount that is negative or not finite. Unknown
// resources are left out.
absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message);

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message);

// Returns the job and the question. InvalidArgument (FieldError): no id, text of more than
// kTextBytesMax, an unknown resource, slots of a host, `last` outside of (0, 10 min].
absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted);

}  // namespace tidemark::wire
