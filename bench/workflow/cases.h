// A case consists of a run with a known end, and of the past runs that an indicator may use.
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
  std::vector<const PastRun*> history;  // newest first
};

enum class Moment { kBeforeStart, kLive };

struct Suite {
  std::string name;
  Moment moment = Moment::kLive;
  std::vector<Case> cases;
};

// The locations of data sets. A missing data set yields no suite.
struct Sources {
  std::string data;                     // folder with tpch-task-times/, spark-eventlogs/, hadoop/
  std::string repository;               // the small data sets of the source tree
  std::vector<std::string> tpch_files;  // replace the files of `data` if not empty
  std::vector<std::string> spark_logs;
};

// Owns the runs of its suites.
class Library {
 public:
  // Returns the suites whose name begins with `wanted`, or all suites if it is empty.
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
