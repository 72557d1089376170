// The settings of `tidemark serve`: the key of each, its allowed values, and its field in
// ServeConfig.
//
// The function templates create a setting of each kind. `field` maps a ServeConfig&, const or not,
// to a reference to the field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/config/serve_config.h"
#include "text/size_text.h"

namespace tidemark::serve {

struct Setting {
  std::string key;
  std::string allowed;  // human-readable description of the allowed values
  bool is_list = false;
  // Stores the value. If the words are not allowed, returns InvalidArgument, whose message is only
  // the rejected word. Relative file names start at `folder`.
  std::function<absl::Status(const std::vector<std::string>& words, const std::string& folder,
                             ServeConfig& config)>
      set;
  // Returns the value as a settings file would contain it.
  std::function<std::string(const ServeConfig& config)> show;
  // Returns the file that must exist when a master starts, or "" if the configuration names no such
  // file.
  std::function<std::string(const ServeConfig& config)> file = {};
};

// These functions parse one word. They return false if it has another form.
bool ReadCount(const std::string& word, std::uint64_t& value);      // 17
bool ReadBytes(const std::string& word, std::uint64_t& value);      // 17, 4KiB, 2MB, 1GiB
bool ReadSwitch(const std::string& word, bool& value);              // true, false
bool ReadDuration(const std::string& word, absl::Duration& value);  // 1.5s, 200ms, 1h30m

// Returns InvalidArgument like Setting::set, unless the word is host:port or, if allowed,
// unix:PATH.
absl::Status CheckAddress(const std::string& word, bool may_be_unix);
// Returns `name`, preceded by `folder` if it is relative.
std::string FileIn(const std::string& folder, const std::string& name);
// Returns InvalidArgument, which quotes the word and suggests the most similar of `choices`.
absl::Status Unallowed(const std::string& word, const std::vector<std::string>& choices = {});

template <typename Field>
Setting TextSetting(std::string key, std::string allowed, Field field) {
  return {.key = std::move(key),
          .allowed = std::move(allowed),
          .set =
              [field](const auto& words, const std::string&, ServeConfig& config) {
                if (words[0].empty()) return Unallowed("");
                field(config) = words[0];
                return absl::OkStatus();
              },
          .show = [field](const ServeConfig& config) { return std::string(field(config)); }};
}

// A setting whose value is the address of a server.
template <typename Field>
Setting AddressSetting(std::string key, std::string allowed, bool may_be_unix, Field field) {
  Setting setting = TextSetting(std::move(key), std::move(allowed), field);
  setting.set = [may_be_unix, set = std::move(setting.set)](
                    const auto& words, const std::string& folder, ServeConfig& config) {
    const absl::Status status = CheckAddress(words[0], may_be_unix);
    return status.ok() ? set(words, folder, config) : status;
  };
  return setting;
}

// A setting that names a file or folder that need not exist.
template <typename Field>
Setting FileSetting(std::string key, std::string allowed, Field field) {
  Setting setting = TextSetting(std::move(key), std::move(allowed), field);
  setting.set = [field](const auto& words, const std::string& folder, ServeConfig& config) {
    if (words[0].empty()) return Unallowed("");
    field(config) = FileIn(folder, words[0]);
    return absl::OkStatus();
  };
  return setting;
}

// A setting that names a file that must exist.
template <typename Field>
Setting ReadFileSetting(std::string key, std::string allowed, Field field) {
  Setting setting = FileSetting(std::move(key), std::move(allowed), field);
  setting.file = [field](const ServeConfig& config) { return field(config); };
  return setting;
}

template <typename Field>
Setting SwitchSetting(std::string key, Field field) {
  return {.key = std::move(key),
          .allowed = "true or false",
          .set =
              [field](const auto& words, const std::string&, ServeConfig& config) {
                return ReadSwitch(words[0], field(config)) ? absl::OkStatus() : Unallowed(words[0]);
              },
          .show = [field](const ServeConfig& config) { return field(config) ? "true" : "false"; }};
}

namespace internal {

template <typename Field>
auto SetNumber(bool (*read)(const std::string&, std::uint64_t&), std::uint64_t min,
               std::uint64_t max, Field field) {
  return [=](const auto& words, const std::string&, ServeConfig& config) {
    std::uint64_t value = 0;
    if (!read(words[0], value) || value < min || value > max) return Unallowed(words[0]);
    auto& target = field(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(value);
    return absl::OkStatus();
  };
}

}  // namespace internal

template <typename Field>
Setting CountSetting(std::string key, std::uint64_t min, std::uint64_t max, Field field) {
  return {.key = std::move(key),
          .allowed = "a whole number from " + std::to_string(min) + " to " + std::to_string(max),
          .set = internal::SetNumber(ReadCount, min, max, field),
          .show = [field](const ServeConfig& config) { return std::to_string(field(config)); }};
}

template <typename Field>
Setting BytesSetting(std::string key, std::uint64_t min, std::uint64_t max, Field field) {
  return {
      .key = std::move(key),
      .allowed = "a size from " + text::ExactSizeText(min) + " to " + text::ExactSizeText(max) +
                 ", such as 4MiB",
      .set = internal::SetNumber(ReadBytes, min, max, field),
      .show = [field](const ServeConfig& config) { return text::ExactSizeText(field(config)); }};
}

template <typename Field>
Setting DurationSetting(std::string key, absl::Duration min, absl::Duration max, Field field) {
  return {
      .key = std::move(key),
      .allowed = "a duration from " + absl::FormatDuration(min) + " to " +
                 absl::FormatDuration(max) + ", such as 1.5s",
      .set =
          [=](const auto& words, const std::string&, ServeConfig& config) {
            absl::Duration value;
            if (!ReadDuration(words[0], value) || value < min || value > max) {
              return Unallowed(words[0]);
            }
            field(config) = value;
            return absl::OkStatus();
          },
      .show = [field](const ServeConfig& config) { return absl::FormatDuration(field(config)); }};
}

// A setting whose value is one of several names.
template <typename Value, typename Field>
Setting ChoiceSetting(std::string key, std::vector<std::pair<std::string, Value>> choices,
                      Field field) {
  std::string names;
  for (const auto& [name, value] : choices) names += (names.empty() ? "" : " or ") + name;
  return {.key = std::move(key),
          .allowed = std::move(names),
          .set =
              [choices, field](const auto& words, const std::string&, ServeConfig& config) {
                std::vector<std::string> known;
                for (const auto& [name, value] : choices) {
                  known.push_back(name);
                  if (name != words[0]) continue;
                  field(config) = value;
                  return absl::OkStatus();
                }
                return Unallowed(words[0], known);
              },
          .show =
              [choices, field](const ServeConfig& config) {
                for (const auto& [name, value] : choices) {
                  if (value == field(config)) return name;
                }
                return std::string();
              }};
}

// A setting whose value is a list of items that `parse` reads and `write` formats.
template <typename Item, typename Field>
Setting ListSetting(std::string key, std::string allowed,
                    absl::StatusOr<Item> (*parse)(std::string_view),
                    std::string (*write)(const Item&), Field field) {
  return {.key = std::move(key),
          .allowed = std::move(allowed),
          .is_list = true,
          .set =
              [parse, field](const auto& words, const std::string&, ServeConfig& config) {
                std::vector<Item> items;
                for (const std::string& word : words) {
                  absl::StatusOr<Item> item = parse(word);
                  if (!item.ok()) return Unallowed(word);
                  items.push_back(*std::move(item));
                }
                field(config) = std::move(items);
                return absl::OkStatus();
              },
          .show =
              [write, field](const ServeConfig& config) {
                std::string list;
                for (const Item& item : field(config)) {
                  list += (list.empty() ? "[" : ", ") + write(item);
                }
                return list.empty() ? "[]" : list + "]";
              }};
}

// A setting whose value is a list of distinct `choices`.
template <typename Field>
Setting ChoicesSetting(std::string key, std::vector<std::string> choices, Field field) {
  std::string names;
  for (const std::string& choice : choices) names += (names.empty() ? "" : ", ") + choice;
  return {.key = std::move(key),
          .allowed = "a list of one or more of " + names,
          .is_list = true,
          .set =
              [choices = std::move(choices), field](const auto& words, const std::string&,
                                                    ServeConfig& config) {
                std::vector<std::string> chosen;
                for (const std::string& word : words) {
                  const auto has = [&](const std::vector<std::string>& list) {
                    return std::find(list.begin(), list.end(), word) != list.end();
                  };
                  if (!has(choices)) return Unallowed(word, choices);
                  if (has(chosen)) return absl::InvalidArgumentError("`" + word + "` twice");
                  chosen.push_back(word);
                }
                if (chosen.empty()) return Unallowed("[]");
                field(config) = chosen;
                return absl::OkStatus();
              },
          .show =
              [field](const ServeConfig& config) {
                std::string list;
                for (const std::string& word : field(config)) {
                  list += (list.empty() ? "[" : ", ") + word;
                }
                return list + "]";
              }};
}

// Returns all settings of `tidemark serve`, in the order of the documentation.
const std::vector<Setting>& AllSettings();

const Setting* FindSetting(const std::string& key);

}  // namespace tidemark::serve
