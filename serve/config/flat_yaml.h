// Parses a YAML file of settings into a list. Sections are one level deep; the value of a setting
// is a word or a list of words.
//
//   listen: 127.0.0.1:7411            listen        = 127.0.0.1:7411
//   limits:                      ->   limits.jobs   = 1000
//     jobs: 1000
//
// In serve/, only this file depends on the YAML library. Memory is bounded by the size of the text,
// since aliases are rejected.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::serve {

struct YamlEntry {
  std::string key;  // "section.name" or "name"
  std::vector<std::string> words;
  bool is_list = false;
  int line = 0;  // 1-based
  // The reason why `words` is empty; empty if the entry is valid.
  std::string fault;
};

// Longer texts are rejected.
inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;

// Returns the entries of `text` in order. Entries that nest deeper, repeat a key or have no value
// contain their fault. Fails with InvalidArgument, which names the line in `file`, if the text is
// not YAML or not a map of settings.
absl::StatusOr<std::vector<YamlEntry>> ReadFlatYaml(const std::string& text,
                                                    const std::string& file);

}  // namespace tidemark::serve
