// Files that only their owner may read, as a master requires.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace tidemark::test {

inline void WriteSecret(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write);
}

}  // namespace tidemark::test
