#include "serve/config/serve_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <set>

#include "console/text.h"
#include "serve/config/conflicts.h"
#include "serve/config/flat_yaml.h"
#include "serve/config/settings.h"
#include "text/did_you_mean.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

// `is_shown`: whether people read it. To look for what else may have been meant takes about 40 us,
// and a megabyte of text has room for 60,000 settings.
absl::Status UnknownSetting(const std::string& where, const std::string& key, bool is_shown) {
  if (!is_shown) {
    return absl::InvalidArgumentError(
        fmt::format("{}: unknown setting {}", where, key.substr(0, 100)));
  }
  std::vector<std::string> keys;
  for (const Setting& known : AllSettings()) {
    keys.push_back(known.key);
    if (!known.key.starts_with(key + ".")) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is a section, not a setting; set what is in it, such as {}, or remove "
                    "it",
                    where, key, known.key));
  }
  const std::string meant = text::DidYouMean(key, keys);
  return absl::InvalidArgumentError(
      fmt::format("{}: unknown setting {}{}", where, key.substr(0, 100),
                  meant.empty() ? "; docs/serve.md lists them all" : meant));
}

// `where` is the beginning of the message: a line of a file, or an option. `is_shown`: whether
// people read it.
absl::Status Set(const std::string& where, const std::string& folder, const YamlEntry& entry,
                 bool is_shown, ServeConfig& config) {
  if (!entry.fault.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", where, entry.fault));
  }
  const Setting* setting = FindSetting(entry.key);
  if (setting == nullptr) return UnknownSetting(where, entry.key, is_shown);
  if (entry.is_list != setting->is_list || entry.words.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} must be {}", where, entry.key, setting->allowed));
  }
  const absl::Status status = setting->set(entry.words, folder, config);
  if (status.ok()) {
    config.origins[entry.key] = where;
    return status;
  }
  return absl::InvalidArgumentError(fmt::format("{}: {} must be {}, not {}", where, entry.key,
                                                setting->allowed, std::string(status.message())));
}

std::string FolderOf(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : file.substr(0, slash);
}

// What is wrong, a line for each setting: nobody wants to hear of one after the other.
class Faults {
 public:
  void Add(const absl::Status& status) {
    if (!status.ok()) Add(std::vector<std::string>{std::string(status.message())});
  }
  void AddOf(const std::string& key, const absl::Status& status) {
    if (!status.ok()) wrong_.insert(key);
    Add(status);
  }
  void Add(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      ++count_;
      // A text of a file may hold anything.
      if (count_ <= kShownMax) lines_.push_back(console::Printable(line, /*unicode=*/true));
    }
  }
  bool has_room() const { return count_ < kShownMax; }
  // Settings that have a default in the place of what was meant.
  const std::set<std::string>& wrong() const { return wrong_; }
  absl::Status All() const {
    if (count_ == 0) return absl::OkStatus();
    std::string text = fmt::format("{}", fmt::join(lines_, "\n"));
    if (count_ > kShownMax) {
      const std::size_t more = count_ - kShownMax;
      text += fmt::format("\nand {} more {}", more, more == 1 ? "fault" : "faults");
    }
    return absl::InvalidArgumentError(text);
  }

 private:
  // More than there are settings.
  static constexpr std::size_t kShownMax = 100;
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
  std::set<std::string> wrong_;
};

// What `text` and `overrides` say, as far as it is allowed; the rest is among the faults.
ServeConfig Parse(const std::string& text, const std::string& file,
                  const std::vector<SettingOverride>& overrides, Faults& faults) {
  ServeConfig config;
  const absl::StatusOr<std::vector<YamlEntry>> entries = ReadFlatYaml(text, file);
  faults.Add(entries.status());
  if (!entries.ok()) return config;
  const auto set = [&](const std::string& where, const std::string& folder,
                       const YamlEntry& entry) {
    faults.AddOf(entry.key, Set(where, folder, entry, faults.has_room(), config));
  };
  for (const YamlEntry& entry : *entries) {
    set(fmt::format("{}:{}", file, entry.line), FolderOf(file), entry);
  }
  for (const SettingOverride& given : overrides) {
    const Setting* setting = FindSetting(given.key);
    const bool is_list = setting != nullptr && setting->is_list;
    set(given.origin, "", {.key = given.key, .words = given.words, .is_list = is_list});
  }
  faults.Add(Conflicts(config, faults.wrong()));
  return config;
}

}  // namespace

std::string ServeConfig::Where(const std::string& key) const {
  const auto origin = origins.find(key);
  return origin == origins.end() ? "" : origin->second + ": ";
}

absl::StatusOr<ServeConfig> ParseServeConfig(const std::string& text, const std::string& file,
                                             const std::vector<SettingOverride>& overrides) {
  Faults faults;
  ServeConfig config = Parse(text, file, overrides, faults);
  if (absl::Status status = faults.All(); !status.ok()) return status;
  return config;
}

absl::StatusOr<ServeConfig> LoadServeConfig(const std::string& file,
                                            const std::vector<SettingOverride>& overrides) {
  absl::StatusOr<std::string> text = std::string();
  if (!file.empty()) text = transport::ReadSmallFile(file);
  if (!text.ok()) return text.status();
  Faults faults;
  ServeConfig config = Parse(*text, file, overrides, faults);
  faults.Add(UnreadableFiles(config));
  faults.Add(AlertFaults(config, faults.wrong()));
  if (absl::Status status = faults.All(); !status.ok()) return status;
  return config;
}

}  // namespace tidemark::cli
