// Defines the suites. Their rows are measured jobs on virtual clusters, live jobs, or recorded map
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

// Constants of an estimator may be chosen only on the rows of kTrain. The halves share no source of
// data. Train has relations, three graphs and generated keys of even powers. Valid has books,
// matrices, the other graphs and odd powers. Only valid has jobs on books and matrices.
enum class Split : std::uint8_t { kTrain, kValid };
const char* NameOf(Split split);

struct Row {
  std::string suite;
  std::string job;       // name in the test engine
  std::string data;      // name in results; job and data name the cost log
  std::string data_set;  // name in data_sets.h
  std::map<std::string, std::string> parameters;
  std::uint32_t workers = 8;  // one worker runs the application master
  std::uint32_t waves = 1;    // reduce tasks per other worker
  std::string scenario;       // name in scenario.h
  std::uint32_t lambda = 0;   // explicit keys per map task; 0 for the default
  bool is_live = false;       // runs live on this number of slots of this machine
  bool only_maps = false;     // replays recorded map tasks of job `data` (maps.h)
  Split split = Split::kTrain;

  std::uint32_t slots() const { return workers - 1; }
  // Returns a name such as "two-path.cnr-2000".
  std::string cost_log_name() const { return job + "." + data; }
  // Returns a name such as "two-path cnr-2000 8x1 slow-node". The name of map tasks has their
  // number instead of waves, such as "map job_1 11 whole-files".
  std::string name() const;
};

std::vector<std::string> SuiteNames();
// Returns the rows of a suite. Fails with InvalidArgument and the list of valid names.
absl::StatusOr<std::vector<Row>> RowsOf(const std::string& suite);

// Returns the inputs of a row's job, or NotFound if its data is missing.
absl::StatusOr<JobInputs> InputsOf(const Row& row, const DataSets& data_sets);

}  // namespace tidemark::bench
