// Creates a certificate authority and its certificates for one test, with the openssl program.
#pragma once

#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::test {

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

  // Issues a certificate for names in the form of subjectAltName, such as "IP:127.0.0.1".
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
