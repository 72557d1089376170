// Files of tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace tidemark::test {

// Returns the contents of a file, or nothing if it cannot be read.
inline std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A directory for one test, which the destructor removes. Concurrent tests have separate
// directories.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string();
    EXPECT_NE(::mkdtemp(path_.data()), nullptr) << path_;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file with the given contents, or atomically replaces an existing file. Returns its
  // path.
  std::string Write(const std::string& name, const std::string& contents) const {
    const std::string path = *this / name;
    std::ofstream(path + ".new", std::ios::binary) << contents;
    using std::filesystem::perms;
    std::filesystem::permissions(path + ".new", perms::owner_read | perms::owner_write);
    std::filesystem::rename(path + ".new", path);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace tidemark::test
