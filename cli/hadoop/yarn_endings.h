// Asks YARN how the jobs of a command ended.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::cli {

// Thread-safe.
class YarnEndings {
 public:
  // `folders` may hold a yarn-site.xml; the first one that exists counts.
  explicit YarnEndings(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // Notes the address of a resource manager in a line that the command writes.
  void NoteLine(std::string_view line);

  // Returns how the job ended, as words that follow its name. Queries the resource manager that the
  // command named, then the ones in yarn-site.xml. Waits up to three seconds for an application
  // that has not ended yet; each query may take ten seconds.
  std::string EndingOf(const std::string& job_id, int exit_code) const;

 private:
  std::vector<std::string> ResourceManagers() const;

  const std::vector<std::string> folders_;
  mutable std::mutex mutex_;  // guards named_
  std::optional<std::string> named_;
};

// Returns the folders in which Hadoop and Spark find the settings of YARN: YARN_CONF_DIR,
// HADOOP_CONF_DIR, then `configuration`, except for empty ones.
std::vector<std::string> YarnFolders(const std::string& configuration);

}  // namespace tidemark::cli
