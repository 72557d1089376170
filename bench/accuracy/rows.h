// The suites: which jobs are measured, and on which virtual cluster they are replayed; or which are
// really run; or recorded map tasks.
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
// data: train has relations, three graphs and made keys of even powers; valid has books, matrices,
// the other graphs and odd powers. Jobs on books and on matrices are kinds that only valid has.
enum class Split : std::uint8_t { kTrain, kValid };
const char* NameOf(Split split);

struct Row {
  std::string suite;
  std::string job;       // of the test engine
  std::string data;      // what it is called in results; with the job, a name for its cost log
  std::string data_set;  // of data_sets.h
  std::map<std::string, std::string> parameters;
  std::uint32_t workers = 8;  // one of them runs the application master
  std::uint32_t waves = 1;    // reduce tasks for each other worker
  std::string scenario;       // of scenario.h
  bool is_live = false;       // really run, on as many slots of this machine
  bool only_maps = false;     // recorded map tasks of job `data` (maps.h)
  Split split = Split::kTrain;

  std::uint32_t slots() const { return workers - 1; }
  // "two-path.cnr-2000"
  std::string cost_log_name() const { return job + "." + data; }
  // "two-path cnr-2000 8x1 slow-node"; of map tasks, whose waves follow from their number, "map
  // job_1 11 whole-files"
  std::string name() const;
};

std::vector<std::string> SuiteNames();
// InvalidArgument: lists those there are.
absl::StatusOr<std::vector<Row>> RowsOf(const std::string& suite);

// The inputs of a row's job. NotFound: its data is not there.
absl::StatusOr<JobInputs> InputsOf(const Row& row, const DataSets& data_sets);

}  // namespace tidemark::bench
