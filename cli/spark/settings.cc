#include "cli/spark/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cli/process.h"
#include "spark/event_scanner.h"

namespace tidemark::cli {
namespace {

constexpr const char* kJars = "spark.jars";
constexpr const char* kPlugins = "spark.plugins";
// Announcement of the connector; see ApplicationListener.java.
constexpr std::string_view kAnnounced = "Tidemark: reporting on application ";
constexpr std::string_view kOfYarn = "application_";

// Maximum length of a name that is read from event logs.
constexpr std::size_t kNameOfParameterMax = 40;

bool IsNameOfParameter(std::string_view name) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || name.size() > kNameOfParameterMax) return false;
  if (std::isalpha(static_cast<unsigned char>(name[0])) == 0) return false;
  if (!std::all_of(name.begin(), name.end(), is_part)) return false;
  // Spark redacts the values of these names (spark.redaction.regex).
  const std::string lower = absl::AsciiStrToLower(absl::string_view(name.data(), name.size()));
  constexpr const char* kHidden[] = {"secret", "password", "token", "access.key", "accesskey"};
  return std::none_of(std::begin(kHidden), std::end(kHidden),
                      [&](const char* hidden) { return lower.find(hidden) != std::string::npos; });
}

bool IsNumber(const std::string& text) {
  double number = 0;
  return absl::SimpleAtod(text, &number) && std::isfinite(number);
}

// Returns true for options of spark-submit and the shells that take no value. All other options
// that begin with -- take a value.
bool IsFlag(std::string_view word) {
  constexpr std::string_view kFlags[] = {"--verbose", "-v",        "--supervise",  "--help",
                                         "-h",        "--version", "--usage-error"};
  return std::find(std::begin(kFlags), std::end(kFlags), word) != std::end(kFlags);
}

// The options of a Spark command, between the program and the application's file.
struct Options {
  std::map<std::string, std::string> values;  // by option, such as --jars; the last value counts
  std::map<std::string, std::string> settings;
  std::size_t end = 1;  // index of the first word after the options
};

Options OptionsIn(const std::vector<std::string>& command) {
  Options options;
  std::size_t& at = options.end;
  while (at < command.size() && command[at].starts_with("-") && command[at].size() > 1) {
    std::string name = command[at++];
    const std::size_t equals = name.find('=');
    std::string value;
    if (name.starts_with("--") && equals != name.npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (!IsFlag(name) && at < command.size() &&
               (name.starts_with("--") || name == "-c" || !command[at].starts_with("-"))) {
      value = command[at++];
    }
    const std::size_t assigned = value.find('=');
    if ((name == "--conf" || name == "-c") && assigned != value.npos) {
      options.settings[value.substr(0, assigned)] = value.substr(assigned + 1);
    }
    options.values[name] = std::move(value);
  }
  return options;
}

// Appends `item` to a comma-separated list unless it is in the list.
std::string With(const std::string& list, const std::string& item) {
  for (const absl::string_view known : absl::StrSplit(absl::string_view(list), ',')) {
    if (absl::StripAsciiWhitespace(known) == item) return list;
  }
  return list.empty() ? item : list + "," + item;
}

std::string Found(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

}  // namespace

std::vector<SparkSetting> SparkConnectorSettings(std::string_view master, std::string_view jar,
                                                 const ClientSecurity& security) {
  std::vector<SparkSetting> settings = {{kJars, std::string(jar)},
                                        {kPlugins, kSparkPlugin},
                                        {"spark.tidemark.master", std::string(master)}};
  const SparkSetting files[] = {{"spark.tidemark.tls.ca", security.ca_file},
                                {"spark.tidemark.tls.certificate", security.certificate_file},
                                {"spark.tidemark.tls.key", security.key_file},
                                {"spark.tidemark.tls.server.name", security.server_name},
                                {"spark.tidemark.token.file", security.token_file}};
  for (const SparkSetting& setting : files) {
    if (!setting.second.empty()) settings.push_back(setting);
  }
  return settings;
}

std::string ToSparkDefaults(const std::vector<SparkSetting>& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += fmt::format("{} {}\n", key, value);
  return text;
}

std::string ToSparkOptions(const std::vector<SparkSetting>& settings) {
  std::string options;
  for (const auto& [key, value] : settings) {
    if (!options.empty()) options += " \\\n";
    options += "--conf " + QuotedForShell(fmt::format("{}={}", key, value));
  }
  return options + "\n";
}

std::map<std::string, std::string> SparkDefaults(std::string_view text) {
  std::map<std::string, std::string> settings;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    // A key ends at the first space, = or :, as in java.util.Properties.
    const std::size_t end = std::min(line.find_first_of(" \t=:"), line.size());
    absl::string_view value = absl::StripLeadingAsciiWhitespace(line.substr(end));
    if (!value.empty() && (value[0] == '=' || value[0] == ':')) value.remove_prefix(1);
    settings[std::string(line.substr(0, end))] = std::string(absl::StripAsciiWhitespace(value));
  }
  return settings;
}

std::string PropertiesFileOf(const std::vector<std::string>& command) {
  return Found(OptionsIn(command).values, "--properties-file");
}

std::vector<std::string> WithSparkSettings(const std::vector<std::string>& command,
                                           const std::map<std::string, std::string>& defaults,
                                           const std::vector<SparkSetting>& settings) {
  const Options options = OptionsIn(command);
  std::vector<std::string> words(command.begin(),
                                 command.begin() + static_cast<std::ptrdiff_t>(options.end));
  for (const auto& [key, value] : settings) {
    std::string set = Found(options.settings, key);
    if (set.empty()) set = Found(defaults, key);
    if (key == kJars) {
      // --jars overrides the setting.
      const std::string jars = Found(options.values, "--jars");
      words.insert(words.end(), {"--jars", With(jars.empty() ? set : jars, value)});
    } else {
      words.insert(
          words.end(),
          {"--conf", fmt::format("{}={}", key, key == kPlugins ? With(set, value) : value)});
    }
  }
  words.insert(words.end(), command.begin() + static_cast<std::ptrdiff_t>(options.end),
               command.end());
  return words;
}

std::vector<SparkSetting> ParametersAmong(const std::vector<std::string>& command,
                                          const std::map<std::string, std::string>& defaults) {
  const Options options = OptionsIn(command);
  std::vector<SparkSetting> found;
  std::set<std::string> known;
  for (std::size_t at = options.end + 1; at < command.size(); ++at) {
    const std::size_t equals = command[at].find('=');
    std::string_view name = std::string_view(command[at]).substr(0, equals);
    const bool is_option = name.starts_with("-");
    while (name.starts_with("-")) name.remove_prefix(1);
    std::string value;
    if (equals != std::string::npos) {
      value = command[at].substr(equals + 1);
    } else if (is_option && at + 1 < command.size()) {
      value = command[at + 1];
    }
    const std::string key = fmt::format("{}{}", spark::kParameterPrefix, name);
    if (!IsNameOfParameter(name) || !IsNumber(value) || !known.insert(key).second) continue;
    if (options.settings.contains(key) || defaults.contains(key)) continue;
    if (found.size() < spark::kParametersMax) found.emplace_back(key, value);
  }
  return found;
}

std::vector<std::string> ApplicationIdsIn(std::string_view line) {
  if (line.starts_with(kAnnounced)) {
    return {std::string(line.substr(kAnnounced.size()))};
  }
  const auto is_part = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) || c == '_';
  };
  std::vector<std::string> ids;
  for (std::size_t at = line.find(kOfYarn); at != line.npos; at = line.find(kOfYarn, at + 1)) {
    const std::string_view rest = line.substr(at + kOfYarn.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_part);
    const std::string_view numbers = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    const std::size_t underscore = numbers.find('_');
    const bool is_word = at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0;
    if (!is_word && underscore != 0 && underscore != numbers.npos &&
        underscore + 1 < numbers.size()) {
      ids.emplace_back(line.substr(at, kOfYarn.size() + numbers.size()));
    }
  }
  return ids;
}

}  // namespace tidemark::cli
