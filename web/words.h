// The texts of the page, which equal the console's texts.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tidemark/job.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::web {

// REQUIRES: the snapshot is whole.
using WordsOf = std::function<v1::JobWords(const Snapshot&)>;

// Adds words to the tasks in the answer.
using AddTaskWords = std::function<void(v1::TasksAnswer&)>;

// Adds words to the explanation in the answer to a question.
using AddExplanationWords =
    std::function<void(const tidemark::v1::ExplainQuestion&, v1::ExplanationAnswer&)>;

// Adds words to the contention in the answer.
using AddContentionWords = std::function<void(v1::ContentionAnswer&)>;

// Returns the paragraph about the costs of an ended job. `waits` contains the waits of the job, or
// the reason why they are unknown.
using SummaryOf = std::function<std::string(
    const Snapshot&, const absl::StatusOr<tidemark::v1::Explanation>& waits)>;

// Compares a job with a past run.
using ComparisonOf =
    std::function<v1::ComparisonAnswer(const Snapshot& before, const Snapshot& after)>;

// The words that a reader has received about stages and the jobs of a workflow.
class WordChanges {
 public:
  // Takes the words of a whole snapshot and removes the words that the reader already has. Then
  // records that the reader has all of them. Forgets words of other parts, so the state depends
  // only on the newest snapshot.
  void RemoveKnown(v1::JobWords& words);

 private:
  std::map<std::string, std::string> sent_;  // sent words by id
};

}  // namespace tidemark::web
