#include "master/service/memory_limit.h"

#include <gtest/gtest.h>

#include <map>

namespace tidemark::service {
namespace {

using Files = std::map<std::string, std::string>;

std::optional<std::uint64_t> LimitOf(const Files& files) {
  return CgroupMemoryLimitBytes([&](const std::string& path) -> std::optional<std::string> {
    const auto file = files.find(path);
    if (file == files.end()) return std::nullopt;
    return file->second;
  });
}

TEST(MemoryLimit, IsTheSmallestOfTheCgroupAndThoseAroundIt) {
  Files files = {{"/proc/self/cgroup", "0::/system.slice/tidemark.service\n"},
                 {"/sys/fs/cgroup/system.slice/tidemark.service/memory.max", "3000000\n"},
                 {"/sys/fs/cgroup/system.slice/memory.max", "max\n"}};
  EXPECT_EQ(LimitOf(files), 3'000'000U);
  files["/sys/fs/cgroup/system.slice/memory.max"] = "2000000\n";
  EXPECT_EQ(LimitOf(files), 2'000'000U);
}

TEST(MemoryLimit, OfAContainerIsAtTheRootOfWhatItSees) {
  for (const char* path : {"/", "/../other", "/docker/0123456789ab"}) {
    EXPECT_EQ(LimitOf({{"/proc/self/cgroup", std::string("0::") + path + "\n"},
                       {"/sys/fs/cgroup/memory.max", "4294967296\n"},
                       {"/sys/fs/other/memory.max", "1\n"}}),
              std::uint64_t{4} << 30)
        << path;
  }
}

TEST(MemoryLimit, OfVersionOneIsThatOfTheMemoryController) {
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n"},
                     {"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
                     {"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n"}}),
            1000U);
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "4:hugetlb,memory:/a:b\n"},
                     {"/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes", "77\n"}}),
            77U)
      << "a colon may be part of a name";
}

TEST(MemoryLimit, IsNoneWhereNothingIsSaid) {
  const std::string file = "/sys/fs/cgroup/memory.max";
  EXPECT_EQ(LimitOf({}), std::nullopt);
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "0::/\n"}}), std::nullopt);
  for (const char* text : {"max\n", "", "0\n", "-1\n", "1e9\n", "99999999999999999999\n"}) {
    EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "0::/\n"}, {file, text}}), std::nullopt) << text;
  }
  for (const char* text : {"", "\n", "0:", "0::", "x", "1:memory", "::::", "0::a//b/"}) {
    EXPECT_EQ(LimitOf({{"/proc/self/cgroup", text}}), std::nullopt) << text;
  }
}

TEST(MemoryLimit, OfThisProcessLeavesRoomForSomething) { EXPECT_GE(HalfOfTheMemoryBytes(), 1U); }

}  // namespace
}  // namespace tidemark::service
