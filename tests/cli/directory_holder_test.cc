#include "cli/directory_holder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tidemark::cli {
namespace {

constexpr FileId kFile = {.device_major = 0xfe, .device_minor = 0, .inode = 9987572};

TEST(LockHolder, IsTheProcessOfTheLock) {
  const std::string locks =
      "1: POSIX  ADVISORY  WRITE 1 fe:00:9987572 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 2 fe:00:99875720 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 3 fe:01:9987572 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF\n";
  EXPECT_EQ(LockHolder(locks, kFile), 4711);
}

TEST(LockHolder, IsNobodyWhoWaitsOrIsNotTold) {
  EXPECT_EQ(LockHolder("1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:9987572 0 EOF\n", kFile),
            std::nullopt);
  EXPECT_EQ(LockHolder("1: FLOCK  ADVISORY  WRITE 0 fe:00:9987572 0 EOF\n", kFile), std::nullopt);
  for (const char* none :
       {"", "\n", "1: FLOCK", "1: FLOCK  ADVISORY  WRITE x fe:00:9987572 0 EOF"}) {
    EXPECT_EQ(LockHolder(none, kFile), std::nullopt) << none;
  }
}

TEST(HolderOfADirectory, IsNobodyWithoutALock) {
  char folder[] = "/tmp/tidemark-holder-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  EXPECT_EQ(HolderOf(folder), std::nullopt);
  const int lock =
      open((std::string(folder) + "/LOCK").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(lock, 0);
  EXPECT_EQ(HolderOf(folder), std::nullopt) << "one that was left behind";
  close(lock);
  EXPECT_EQ(HolderOf(""), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tidemark::cli
