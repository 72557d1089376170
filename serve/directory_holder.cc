#include "serve/directory_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace tidemark::cli {

// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF
// Of one that waits, "->" stands behind the number.
std::optional<std::int64_t> LockHolder(const std::string& locks, const FileId& file) {
  const std::string wanted =
      fmt::format("{:02x}:{:02x}:{}", file.device_major, file.device_minor, file.inode);
  std::istringstream lines(locks);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, id;
    std::int64_t process = 0;
    words >> number >> kind >> strictness >> access >> process >> id;
    if (words && kind == "FLOCK" && process > 0 && id == wanted) return process;
  }
  return std::nullopt;
}

bool IsStopped(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string facts{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // PID (NAME) STATE ..., where the name may hold anything.
  const std::size_t name_end = facts.rfind(')');
  return name_end != facts.npos && facts.substr(name_end + 1).starts_with(" T");
}

std::optional<std::int64_t> HolderOf(const std::string& data_dir) {
  if (data_dir.empty()) return std::nullopt;
  struct stat facts {};
  // As master/service/directory_lock.cc names it.
  if (::stat((data_dir + "/LOCK").c_str(), &facts) != 0) return std::nullopt;
  std::ifstream file("/proc/locks");
  const std::string locks{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return LockHolder(locks, {.device_major = major(facts.st_dev),
                            .device_minor = minor(facts.st_dev),
                            .inode = facts.st_ino});
}

}  // namespace tidemark::cli
