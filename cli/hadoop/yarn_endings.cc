#include "cli/hadoop/yarn_endings.h"

#include <cstdlib>
#include <filesystem>

#include "absl/time/clock.h"
#include "cli/hadoop/web_client.h"
#include "cli/hadoop/yarn_outcome.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

// A command may end shortly before YARN lists its application as ended.
constexpr int kQuestions = 7;
constexpr absl::Duration kBetweenQuestions = absl::Milliseconds(500);

}  // namespace

void YarnEndings::NoteLine(std::string_view line) {
  std::optional<std::string> named = ResourceManagerIn(line);
  if (!named) return;
  const std::lock_guard lock(mutex_);
  named_ = std::move(named);
}

std::vector<std::string> YarnEndings::ResourceManagers() const {
  std::string site;
  for (const std::string& folder : folders_) {
    const absl::StatusOr<std::string> text =
        transport::ReadSmallFile(std::filesystem::path(folder) / "yarn-site.xml");
    if (!text.ok()) continue;
    site = *text;
    break;
  }
  std::vector<std::string> addresses = ResourceManagersOf(site);
  const std::lock_guard lock(mutex_);
  if (named_) addresses.insert(addresses.begin(), *named_);
  return addresses;
}

std::string YarnEndings::EndingOf(const std::string& job_id, int exit_code) const {
  const std::optional<std::string> id = YarnApplicationOf(job_id);
  if (!id) return UnknownEnding(exit_code, "it is no application of YARN");
  const std::vector<std::string> resource_managers = ResourceManagers();
  WebClient web;
  for (int question = 1;; ++question) {
    const auto application =
        AskYarn(resource_managers, *id, [&web](const std::string& url) { return web.Get(url); });
    if (!application.ok()) {
      return UnknownEnding(exit_code, std::string(application.status().message()));
    }
    if (application->is_over || question == kQuestions) return YarnEnding(*id, *application);
    absl::SleepFor(kBetweenQuestions);
  }
}

std::vector<std::string> YarnFolders(const std::string& configuration) {
  std::vector<std::string> folders;
  for (const char* const name : {"YARN_CONF_DIR", "HADOOP_CONF_DIR"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') folders.emplace_back(value);
  }
  if (!configuration.empty()) folders.push_back(configuration);
  return folders;
}

}  // namespace tidemark::cli
