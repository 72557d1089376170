// Defines the suites: measured jobs on virtual clusters, jobs that really run, or recorded map
// tasks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/accuracy/data_sets.h"
#include "bench/accuracy/mapped_job.h"

namespace tidemark::bench {

// Constants of an estimator may be chosen on the rows of kTrain only. The halves share no source of
// data. Train has relations, three graphs and made keys of even powers. Valid has books, matrices,
// the other graphs and odd powers; only valid has jobs on books and matrices.
enum class Split : std::uint8_t { kTrain, kValid };
const char* NameOf(Split split);

struct Row {
  std::string suite;
  std::string job;       // of the test engine
  std::string data;      // name in results; with the job, a name for its cost log
  std::string data_set;  // of data_sets.h
  std::map<std::string, std::string> parameters;
  std::uint32_t workers = 8;  // one of them runs the application master
  std::uint32_t waves = 1;    // reduce tasks per other worker
  std::string scenario;       // of scenario.h
  bool is_live = false;       // really run, on that number of slots of this machine
  bool only_maps = false;     // recorded map tasks of job `data` (maps.h)
  Split split = Split::kTrain;

  std::uint32_t slots() const { return workers - 1; }
  // "two-path.cnr-2000"
  std::string cost_log_name() const { return job + "." + data; }
  // "two-path cnr-2000 8x1 slow-node". For map tasks, whose number gives the waves, "map job_1 11
  // whole-files".
  std::string name() const;
};

std::vector<std::string> SuiteNames();
// Returns InvalidArgument with the list of valid names.
absl::StatusOr<std::vector<Row>> RowsOf(const std::string& suite);

// Returns the inputs of a row's job, or NotFound if its data is missing.
absl::StatusOr<JobInputs> InputsOf(const Row& row, const DataSets& data_sets);

}  // namespace tidemark::bench
