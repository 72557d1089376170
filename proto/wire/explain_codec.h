// Explanations and the questions that they answer, to and from their messages
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

// Text is made UTF-8; what is not a number of seconds is left out, as not known.
void EncodeExplanation(const Explanation& explanation, v1::Explanation& message);

// InvalidArgument (FieldError) names the first field that breaks a promise: an amount that is not
// finite or negative. Resources that this version does not know are left out.
absl::StatusOr<Explanation> ParseExplanation(const v1::Explanation& message);

void EncodeQuestion(const std::string& job_id, const ExplainQuestion& question,
                    v1::ExplainQuestion& message);

// Of which job, and what. InvalidArgument (FieldError): no id, text of more than kTextBytesMax, a
// resource that this version does not know, slots of a host, `last` that is not above 0 and at most
// ten minutes.
absl::StatusOr<std::pair<std::string, ExplainQuestion>> ParseQuestion(
    const v1::ExplainQuestion& untrusted);

}  // namespace tidemark::wire
