// A YAML file of settings as a list: sections one level deep, each setting a word or a list of
// words.
//
//   listen: 127.0.0.1:7411            listen        = 127.0.0.1:7411
//   limits:                      ->   limits.jobs   = 1000
//     jobs: 1000
//
// The only files that know the YAML library. Bounded by the size of the text:
// aliases are refused.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

struct YamlEntry {
  std::string key;  // "section.name" or "name"
  std::vector<std::string> words;
  bool is_list = false;
  int line = 0;  // 1-based
  // Why there are no words; empty: there are.
  std::string fault;
};

// A longer text is no configuration.
inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;

// The entries of `text` in order; those that nest deeper, repeat a key or have no value with their
// fault. InvalidArgument says where in `file` (a name for the message) the text is no YAML, or no
// map of settings.
absl::StatusOr<std::vector<YamlEntry>> ReadFlatYaml(const std::string& text,
                                                    const std::string& file);

}  // namespace tidemark::cli
