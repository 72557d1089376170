// What is asked: a run whose end is known, and the earlier runs that an indicator may learn from.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/workflow/trace.h"
#include "tidemark/past_run.h"

namespace tidemark::bench {

struct Case {
  const Trace* truth = nullptr;
  std::vector<const PastRun*> history;  // the newest first
};

enum class Moment { kBeforeStart, kLive };

struct Suite {
  std::string name;
  Moment moment = Moment::kLive;
  std::vector<Case> cases;
};

// Data sets that are not there make no suite.
struct Sources {
  std::string data;                     // folder with tpch-task-times/, spark-eventlogs/, hadoop/
  std::string repository;               // the small ones that come with the source
  std::vector<std::string> tpch_files;  // instead of those of `data`
  std::vector<std::string> spark_logs;
};

// Owns what the cases of its suites point to.
class Library {
 public:
  // Suites whose name begins with `wanted` (empty: all).
  absl::StatusOr<std::vector<Suite>> Load(const Sources& sources, const std::string& wanted);

 private:
  struct Run {
    Trace trace;
    PastRun profile;
  };
  const Run& Add(Trace trace);
  absl::Status LoadTpch(const std::vector<std::string>& files, std::vector<Suite>& suites);
  absl::Status LoadSpark(const std::vector<std::string>& logs, std::vector<Suite>& suites);
  absl::Status LoadSimple(const Sources& sources, std::vector<Suite>& suites);

  std::deque<Run> runs_;
};

}  // namespace tidemark::bench
