// Certificates of an authority made for one test, by the openssl program.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tidemark::test {

// A directory that goes with the object.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // The path of a file with these contents, which replace those of one that is there at once.
  std::string Write(const std::string& name, const std::string& contents) const {
    const std::string path = *this / name;
    std::ofstream(path + ".new") << contents;
    using std::filesystem::perms;
    std::filesystem::permissions(path + ".new", perms::owner_read | perms::owner_write);
    std::filesystem::rename(path + ".new", path);
    return path;
  }

 private:
  std::string path_;
};

struct KeyPair {
  std::string certificate_file;
  std::string key_file;
};

class Authority {
 public:
  Authority(const ScratchDirectory& directory, const std::string& name)
      : directory_(directory), name_(name) {
    OpenSsl("req -x509 " + NewKey(name) + " -days 2 -subj /CN=" + name + " -out " + Path(".crt"));
  }
  std::string certificate_file() const { return Path(".crt"); }

  // Names are as in subjectAltName, such as "IP:127.0.0.1".
  KeyPair Issue(const std::string& file, const std::string& names, int days = 2) const {
    const std::string base = directory_ / file;
    const std::string extensions = directory_.Write(file + ".ext", "subjectAltName=" + names);
    OpenSsl("req -new " + NewKey(file) + " -subj /CN=" + file + " -out " + base + ".csr");
    OpenSsl("x509 -req -in " + base + ".csr -CA " + Path(".crt") + " -CAkey " + Path(".key") +
            " -CAcreateserial -days " + std::to_string(days) + " -extfile " + extensions +
            " -out " + base + ".crt");
    return {base + ".crt", base + ".key"};
  }

 private:
  std::string Path(const char* ending) const { return directory_ / (name_ + ending); }
  std::string NewKey(const std::string& file) const {
    return "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " +
           directory_ / (file + ".key");
  }
  static void OpenSsl(const std::string& arguments) {
    const std::string command = "openssl " + arguments + " >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }

  const ScratchDirectory& directory_;
  const std::string name_;
};

}  // namespace tidemark::test
