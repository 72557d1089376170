// Queries YARN for the outcome of an application whose last reports did not reach a master.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/hadoop/rest_view.h"

namespace tidemark::cli {

// Returns the id of the YARN application of a job, such as "application_1_0001" for "job_1_0001".
// Returns nullopt for a job outside YARN, such as "job_local1_0001".
std::optional<std::string> YarnApplicationOf(std::string_view job_id);

// Returns true for ids such as "application_1_0001" and "job_1_0001".
bool IsYarnId(std::string_view id);

// Returns the web address of the resource manager in a line that a client of Hadoop or Spark
// writes, such as "http://rm:8088" for "url: http://rm:8088/proxy/application_1_0001/". Returns
// nullopt if the line has no address.
std::optional<std::string> ResourceManagerIn(std::string_view line);

// Returns the web addresses of the resource managers in a yarn-site.xml, with Hadoop's defaults for
// unset properties.
std::vector<std::string> ResourceManagersOf(std::string_view yarn_site);

// Queries the resource managers in order until one answers. Returns the last error if none does.
absl::StatusOr<RestApplication> AskYarn(
    const std::vector<std::string>& resource_managers, const std::string& application_id,
    const std::function<absl::StatusOr<std::string>(const std::string& url)>& get);

// Returns the outcome of the application as a phrase that follows the name of its job: "succeeded
// after 24 s, according to YARN (application_1_0001: FINISHED, SUCCEEDED)".
std::string YarnEnding(const std::string& application_id, const RestApplication& application);

// Returns the phrase for an unanswered query: "reported no end: ...".
std::string UnknownEnding(int exit_code, const std::string& reason);

// Collects addresses of resource managers while a command runs, and queries them afterwards.
// NoteLine() is thread-safe.
class YarnEndings {
 public:
  // Returns the response to a GET, like WebClient::Get().
  using Get = std::function<absl::StatusOr<std::string>(const std::string& url)>;

  // Reads the yarn-site.xml of the first folder that has one.
  YarnEndings(std::vector<std::string> folders, Get get)
      : folders_(std::move(folders)), get_(std::move(get)) {}

  // Records the address of a resource manager if a line of the command contains it.
  void NoteLine(std::string_view line);

  // Returns the outcome of the job as a phrase that follows its name. Queries the resource manager
  // that the command named, then the resource managers in yarn-site.xml. All calls together wait up
  // to three seconds for applications that have not ended. A query may take ten seconds. After a
  // query without a response, later calls send none.
  std::string EndingOf(const std::string& job_id, int exit_code);

  // Returns why YARN ended the application of the job, or "" if unknown.
  std::string DiagnosticsOf(const std::string& job_id);

 private:
  std::vector<std::string> ResourceManagers() const;
  absl::StatusOr<RestApplication> Ask(const std::string& application_id);

  const std::vector<std::string> folders_;
  const Get get_;
  absl::Status unreachable_;  // error of the first query without a response
  int waits_ = 0;             // number of waits for applications that have not ended
  mutable std::mutex mutex_;  // Guards named_.
  std::optional<std::string> named_;
};

// Returns the folders in which Hadoop and Spark find the YARN settings: YARN_CONF_DIR,
// HADOOP_CONF_DIR, then `configuration`. Omits empty names.
std::vector<std::string> YarnFolders(const std::string& configuration);

}  // namespace tidemark::cli
