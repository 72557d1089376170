// Runs a command of an engine, such as `hadoop jar` or `spark-submit`, and shows its jobs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/engines.h"

namespace tidemark::cli {

// Runs the command with the master of `arguments`, or with a master in this process, and shows its
// jobs. Returns the exit code of the command, or kUsage if it could not be started.
int Run(const EngineRunArguments& arguments);

// Returns the path of a file of this installation, such as "jars/tidemark-spark.jar": the file
// below ../share/tidemark beside the folder of this program. The file may be missing.
std::string InstalledFile(const std::string& name);

// Returns the absolute path of the engine's connector: `jar` or, if that is empty, the installed
// connector. Fails with InvalidArgument if the file cannot be read or lacks a class of `classes`;
// the message contains a remedy.
absl::StatusOr<std::string> FindJar(const std::string& jar, const std::string& engine,
                                    const std::vector<std::string>& classes);

// Tracks which of the jobs that a command names have reported to the master. Not thread-safe.
class NamedJobs {
 public:
  // A job is late if it has not reported this long after it was named. An application master starts
  // within a few seconds if the cluster has space for it.
  static constexpr absl::Duration kReportsWithin = absl::Seconds(20);

  // Adds a job that the command names. Adding it again changes nothing.
  void Add(const std::string& id, absl::Time now);
  // Records that the job has reported. Returns false if that was already recorded.
  bool OnReport(const std::string& id);

  bool Contains(const std::string& id) const {
    return reported_.contains(id) || unreported_.contains(id);
  }
  // Returns the jobs that have not reported.
  std::vector<std::string> Unreported() const;
  // Returns the late jobs that no earlier call has returned.
  std::vector<std::string> NewlyLate(absl::Time now);

 private:
  struct Wait {
    absl::Time since;
    bool is_returned = false;
  };
  std::set<std::string> reported_;
  std::map<std::string, Wait> unreported_;
};

}  // namespace tidemark::cli
