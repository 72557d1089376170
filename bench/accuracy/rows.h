// Defines the suites, whose rows are measured jobs on virtual clusters, live jobs, or recorded map
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

// Only the rows of kTrain may be used to choose the constants of an estimator. The halves share no
// source of data. The first has relations, three graphs, and generated keys of even powers. The
// second has books, matrices, the other graphs, and generated keys of odd powers. Only the second
// has jobs on books and matrices.
enum class Split : std::uint8_t { kTrain, kValid };
const char* NameOf(Split split);

struct Row {
  std::string suite;
  std::string job;       // name of the job in the test engine
  std::string data;      // name in results; job and data form the name of the cost log
  std::string data_set;  // name of the data set (data_sets.h)
  std::map<std::string, std::string> parameters;
  std::uint32_t workers = 8;  // one worker runs the application master
  std::uint32_t waves = 1;    // reduce tasks of each other worker
  std::string scenario;       // name of the scenario (scenario.h)
  std::uint32_t lambda = 0;   // explicit keys per map task; 0 for the default
  bool is_live = false;       // true if the row runs live, on this number of slots of this machine
  bool only_maps = false;  // true if the row replays recorded map tasks of the job `data` (maps.h)
  Split split = Split::kTrain;

  std::uint32_t slots() const { return workers - 1; }
  // Returns a name such as "two-path.cnr-2000".
  std::string cost_log_name() const { return job + "." + data; }
  // Returns a name such as "two-path cnr-2000 8x1 slow-node". For map tasks, the name contains the
  // number of tasks instead of waves, such as "map job_1 11 whole-files".
  std::string name() const;
};

std::vector<std::string> SuiteNames();
// Returns the rows of a suite. Fails with InvalidArgument and the list of valid names.
absl::StatusOr<std::vector<Row>> RowsOf(const std::string& suite);

// Returns the inputs of a row's job, or NotFound if their data are missing.
absl::StatusOr<JobInputs> InputsOf(const Row& row, const DataSets& data_sets);

}  // namespace tidemark::bench
