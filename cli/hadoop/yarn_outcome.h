// Asks YARN for the outcome of an application whose last reports did not reach a master. Pure,
// except for the web service that the caller passes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/hadoop/rest_view.h"

namespace tidemark::cli {

// Returns the id of the YARN application of a job, as "application_1_0001" of "job_1_0001". Returns
// nullopt if the job does not run on YARN, as "job_local1_0001".
std::optional<std::string> YarnApplicationOf(std::string_view job_id);

// Returns the web address of the resource manager in a line that a client of Hadoop or Spark
// writes, as "http://rm:8088" of "url: http://rm:8088/proxy/application_1_0001/". Empty: none.
std::optional<std::string> ResourceManagerIn(std::string_view line);

// Returns the web addresses of the resource managers in a yarn-site.xml, with Hadoop's defaults for
// properties that it does not set.
std::vector<std::string> ResourceManagersOf(std::string_view yarn_site);

// Asks one resource manager after the other. An error is that of the last.
absl::StatusOr<RestApplication> AskYarn(
    const std::vector<std::string>& resource_managers, const std::string& application_id,
    const std::function<absl::StatusOr<std::string>(const std::string& url)>& get);

// Returns how the application ended, in words that follow the name of its job: "succeeded after
// 24 s, as YARN reports (application_1_0001: FINISHED, SUCCEEDED)".
std::string YarnEnding(const std::string& application_id, const RestApplication& application);

// Returns the same if YARN cannot be asked: "reported no end: ...".
std::string UnknownEnding(int exit_code, const std::string& reason);

}  // namespace tidemark::cli
