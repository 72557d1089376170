#include "cli/hadoop/yarn_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "cli/hadoop/settings.h"
#include "cli/process.h"
#include "console/duration_text.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

constexpr std::string_view kJob = "job_";
constexpr std::string_view kApplication = "application_";
constexpr std::string_view kProxy = "/proxy/application_";

constexpr char kHost[] = "yarn.resourcemanager.hostname";
constexpr char kIds[] = "yarn.resourcemanager.ha.rm-ids";
constexpr char kPolicy[] = "yarn.http.policy";

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// A command may end shortly before YARN lists its application as ended.
constexpr int kWaitsMax = 6;
constexpr absl::Duration kQueryInterval = absl::Milliseconds(500);

// Returns the values that a site sets.
std::map<std::string, std::string> ValuesIn(std::string_view site,
                                            const std::vector<std::string>& keys) {
  std::vector<HadoopSetting> asked;
  for (const std::string& key : keys) asked.push_back({key, ""});
  std::map<std::string, std::string> values;
  for (const HadoopSetting& setting : SettingsIn(site, asked)) values[setting.key] = setting.value;
  return values;
}

// Returns the web address of one resource manager. `suffix` is ".ID" with high availability.
std::string AddressOf(std::string_view site, bool is_https, const std::string& suffix) {
  const std::string key = is_https ? "yarn.resourcemanager.webapp.https.address"
                                   : "yarn.resourcemanager.webapp.address";
  auto values = ValuesIn(site, {kHost, kHost + suffix, key + suffix});
  std::string host = values[kHost + suffix];
  if (host.empty()) host = values[kHost];
  // By default, Hadoop listens on every address of this host.
  if (host.empty() || host == "0.0.0.0") host = "127.0.0.1";
  std::string address = values[key + suffix];
  if (address.empty()) address = fmt::format("{}:{}", host, is_https ? 8090 : 8088);
  address = absl::StrReplaceAll(address, {{fmt::format("${{{}{}}}", kHost, suffix), host},
                                          {fmt::format("${{{}}}", kHost), host}});
  if (address.starts_with("0.0.0.0:")) address.replace(0, 7, "127.0.0.1");
  return fmt::format("{}://{}", is_https ? "https" : "http", address);
}

std::string OrNone(const std::string& word) { return word.empty() ? "none" : word; }

}  // namespace

std::optional<std::string> YarnApplicationOf(std::string_view job_id) {
  for (const std::string_view prefix : {kJob, kApplication}) {
    if (!job_id.starts_with(prefix)) continue;
    const std::string_view number = job_id.substr(prefix.size());
    if (!IsDigits(number.substr(0, number.find('_')))) return std::nullopt;
    return fmt::format("{}{}", kApplication, number);
  }
  return std::nullopt;
}

bool IsYarnId(std::string_view id) {
  const std::size_t sequence = id.rfind('_');
  return YarnApplicationOf(id) && sequence != id.npos && IsDigits(id.substr(sequence + 1)) &&
         IsDigits(id.substr(id.find('_') + 1, sequence - id.find('_') - 1));
}

std::optional<std::string> ResourceManagerIn(std::string_view line) {
  const std::size_t end = line.find(kProxy);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view before = line.substr(0, end);
  const std::size_t scheme = before.rfind("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  for (const std::string_view name : {"https", "http"}) {
    if (!before.substr(0, scheme).ends_with(name)) continue;
    const std::string_view address = before.substr(scheme - name.size());
    if (address.find_first_of(" \t'\"") != std::string_view::npos) return std::nullopt;
    return std::string(address);
  }
  return std::nullopt;
}

std::vector<std::string> ResourceManagersOf(std::string_view yarn_site) {
  auto values = ValuesIn(yarn_site, {kIds, kPolicy});
  const bool is_https = values[kPolicy] == "HTTPS_ONLY";
  std::vector<std::string> addresses;
  for (const auto id : absl::StrSplit(values[kIds], absl::ByAnyChar(", "), absl::SkipEmpty())) {
    addresses.push_back(AddressOf(yarn_site, is_https, fmt::format(".{}", std::string(id))));
  }
  if (addresses.empty()) addresses.push_back(AddressOf(yarn_site, is_https, ""));
  return addresses;
}

absl::StatusOr<RestApplication> AskYarn(
    const std::vector<std::string>& resource_managers, const std::string& application_id,
    const std::function<absl::StatusOr<std::string>(const std::string& url)>& get) {
  absl::Status status = absl::NotFoundError("no resource manager is configured");
  for (const std::string& resource_manager : resource_managers) {
    const std::string url =
        fmt::format("{}/ws/v1/cluster/apps/{}", resource_manager, application_id);
    const absl::StatusOr<std::string> answer = get(url);
    if (!answer.ok()) {
      status = answer.status();
      continue;
    }
    absl::StatusOr<RestApplication> application = ParseRestApplication(*answer);
    if (application.ok()) return application;
    status = absl::UnavailableError(
        fmt::format("{}: {}", url, std::string(application.status().message())));
  }
  return status;
}

std::string YarnEnding(const std::string& application_id, const RestApplication& application) {
  const std::string states =
      fmt::format("according to YARN ({}: {}, {})", application_id, OrNone(application.state),
                  OrNone(application.final_status));
  if (!application.is_over) return fmt::format("had not ended when the command ended, {}", states);
  std::string after;
  if (application.started_at && application.finished_at &&
      *application.finished_at >= *application.started_at) {
    after = " after " + console::ElapsedText(*application.finished_at - *application.started_at);
  }
  std::string ending;
  switch (application.outcome) {
    case JobOutcome::kSucceeded:
      return fmt::format("succeeded{}, {}", after, states);
    case JobOutcome::kFailed:
      ending = "failed";
      break;
    case JobOutcome::kKilled:
      ending = "was killed";
      break;
    case JobOutcome::kUnknown:
      ending = "ended with an unknown outcome";
      break;
  }
  ending += fmt::format("{}, {}", after, states);
  const std::string why = FirstLine(application.diagnostics);
  return why.empty() ? ending : fmt::format("{}: {}", ending, why);
}

std::string UnknownEnding(int exit_code, const std::string& reason) {
  return fmt::format(
      "reported no end: the command exited with status {}, and the outcome in the cluster is "
      "unknown ({})",
      exit_code, reason);
}

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

absl::StatusOr<RestApplication> YarnEndings::Ask(const std::string& application_id) {
  if (!unreachable_.ok()) return unreachable_;
  absl::StatusOr<RestApplication> application = AskYarn(ResourceManagers(), application_id, get_);
  if (absl::IsUnavailable(application.status())) unreachable_ = application.status();
  return application;
}

std::string YarnEndings::EndingOf(const std::string& job_id, int exit_code) {
  const std::optional<std::string> id = YarnApplicationOf(job_id);
  if (!id) return UnknownEnding(exit_code, "the job did not run on YARN");
  for (;;) {
    const absl::StatusOr<RestApplication> application = Ask(*id);
    if (!application.ok()) {
      return UnknownEnding(exit_code, std::string(application.status().message()));
    }
    if (application->is_over || waits_ == kWaitsMax) return YarnEnding(*id, *application);
    ++waits_;
    absl::SleepFor(kQueryInterval);
  }
}

std::string YarnEndings::DiagnosticsOf(const std::string& job_id) {
  const std::optional<std::string> id = YarnApplicationOf(job_id);
  if (!id) return "";
  const absl::StatusOr<RestApplication> application = Ask(*id);
  return application.ok() ? FirstLine(application->diagnostics) : "";
}

std::vector<std::string> YarnFolders(const std::string& configuration) {
  std::vector<std::string> folders;
  for (const char* const name : {"YARN_CONF_DIR", "HADOOP_CONF_DIR"}) {
    if (std::string value = EnvironmentVariable(name); !value.empty()) {
      folders.push_back(std::move(value));
    }
  }
  if (!configuration.empty()) folders.push_back(configuration);
  return folders;
}

}  // namespace tidemark::cli
