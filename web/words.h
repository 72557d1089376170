// What people read about a snapshot: the console's own words, so that the page has no others.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tidemark/job.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::web {

// REQUIRES: the snapshot is whole.
using WordsOf = std::function<v1::JobWords(const Snapshot&)>;

// Adds what people read to the list that the answer holds.
using AddTaskWords = std::function<void(v1::TasksAnswer&)>;

// The same of an explanation and of what was asked.
using AddExplanationWords =
    std::function<void(const tidemark::v1::ExplainQuestion&, v1::ExplanationAnswer&)>;

// The words of the stages and of the jobs of a workflow that a reader has.
class WordChanges {
 public:
  // Removes the words that the reader has from `words`, the words of a whole snapshot, and records
  // that it has all of them now. Words of parts that are gone are dropped, so that the state
  // depends on the newest snapshot alone.
  void KeepNews(v1::JobWords& words);

 private:
  std::map<std::string, std::string> sent_;  // by id
};

}  // namespace tidemark::web
