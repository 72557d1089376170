#include "master/service/shares.h"

#include "tests/test.h"
#include "tidemark/limit.h"

namespace tidemark::service::shares_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Reserves running jobs for `reporter` until its limit is reached. Returns the reserved jobs.
std::vector<Shares::Holding> AllJobsOf(Shares& shares, const std::string& reporter) {
  std::vector<Shares::Holding> held;
  while (true) {
    Shares::Holding next = shares.Of(reporter);
    if (!next.Reserve(Resource::kJobs, 1).ok()) return held;
    held.push_back(std::move(next));
  }
}

TEST(Shares, AReporterThatTakesItsShareLeavesPlacesForEveryNext) {
  Shares shares({.percent = 80, .jobs_max = 1000});
  const auto first = AllJobsOf(shares, "a");
  EXPECT_EQ(first.size(), 800u);
  const auto second = AllJobsOf(shares, "b");
  EXPECT_EQ(second.size(), 160u);
  const auto third = AllJobsOf(shares, "c");
  EXPECT_EQ(third.size(), 32u);
}

TEST(Shares, TheFirstReporterMayTakeAllOfAFewPlaces) {
  for (const std::size_t places : {1, 2, 3, 4}) {
    Shares shares({.percent = 80, .jobs_max = places});
    EXPECT_EQ(AllJobsOf(shares, "a").size(), places);
  }
}

TEST(Shares, ASmallShareIsAtLeastOnePlace) {
  Shares shares({.percent = 1, .jobs_max = 2});
  const auto first = AllJobsOf(shares, "a");
  EXPECT_EQ(first.size(), 1u);
  const auto second = AllJobsOf(shares, "b");
  EXPECT_EQ(second.size(), 1u);
  EXPECT_EQ(AllJobsOf(shares, "c").size(), 0u) << "there are no more";
}

TEST(Shares, AShareOfHundredPercentLimitsNoReporter) {
  Shares shares({.percent = 100, .state_bytes_max = 10});
  Shares::Holding held = shares.Of("a");
  EXPECT_TRUE(held.Reserve(Resource::kStateBytes, 1000 * kMiB).ok());
}

TEST(Shares, AReturnedPlaceMayBeTakenAgain) {
  Shares shares({.percent = 80, .jobs_max = 1000});
  auto all = AllJobsOf(shares, "a");
  all.pop_back();
  Shares::Holding one = shares.Of("a");
  EXPECT_TRUE(one.Reserve(Resource::kJobs, 1).ok());
  EXPECT_FALSE(shares.Of("a").Reserve(Resource::kJobs, 1).ok());
  one.Hold(Resource::kJobs, 0);
  EXPECT_TRUE(shares.Of("a").Reserve(Resource::kJobs, 1).ok());
}

TEST(Shares, ARefusalNamesTheLimitAndTakesNothing) {
  Shares shares({.percent = 50, .state_bytes_max = 300 * kMiB, .bytes_min = 0});
  Shares::Holding held = shares.Of("a");
  const absl::Status refused = held.Reserve(Resource::kStateBytes, 301 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(ExceededLimit(refused), "share_percent");
  EXPECT_EQ(held.held(Resource::kStateBytes), 0u);
  EXPECT_TRUE(held.Reserve(Resource::kStateBytes, 300 * kMiB).ok());
}

TEST(Shares, EveryReporterMayTakeALittleOfTheDiskAndMoreByTheFreeSpace) {
  Shares shares({.percent = 80});
  Shares::Holding hog = shares.Of("hog");
  EXPECT_TRUE(hog.Reserve(Resource::kDiskBytes, 700 * kMiB).ok()) << "the free space is unknown";
  shares.SetFree(Resource::kDiskBytes, 175 * kMiB);
  EXPECT_TRUE(hog.Reserve(Resource::kDiskBytes, 0).ok());
  EXPECT_FALSE(hog.Reserve(Resource::kDiskBytes, kMiB).ok()) << "four times as much as is left";
  EXPECT_TRUE(hog.Reserve(Resource::kDiskBytes, kMiB, /*slack=*/1).ok());
  Shares::Holding other = shares.Of("other");
  EXPECT_TRUE(other.Reserve(Resource::kDiskBytes, 100 * kMiB).ok());
  shares.SetFree(Resource::kDiskBytes, 0);
  EXPECT_FALSE(other.Reserve(Resource::kDiskBytes, 1).ok());
  EXPECT_TRUE(shares.Of("third").Reserve(Resource::kDiskBytes, 64 * kMiB).ok())
      << "a full disk delays reporters of little and refuses nothing";
}

TEST(Shares, ReservationsReduceTheFreeSpaceThatWasSeenBefore) {
  Shares shares({.percent = 50, .bytes_min = 0});
  shares.SetFree(Resource::kDiskBytes, 100);
  Shares::Holding held = shares.Of("a");
  EXPECT_TRUE(held.Reserve(Resource::kDiskBytes, 50).ok());
  EXPECT_TRUE(held.Reserve(Resource::kDiskBytes, 0).ok());
  EXPECT_FALSE(held.Reserve(Resource::kDiskBytes, 1).ok());
}

TEST(Shares, TheEndOfAJobIsStoredOnAFullDisk) {
  Shares shares({.percent = 80, .bytes_min = 0});
  shares.SetFree(Resource::kDiskBytes, 0);
  Shares::Holding held = shares.Of("a");
  EXPECT_FALSE(held.Reserve(Resource::kDiskBytes, 100).ok());
  held.Hold(Resource::kDiskBytes, 1000 * kMiB);
  EXPECT_FALSE(held.Reserve(Resource::kDiskBytes, 100, /*slack=*/1).ok());
  EXPECT_TRUE(held.Reserve(Resource::kDiskBytes, 100, /*slack=*/16).ok());
}

using Files = std::map<std::string, std::string>;

std::optional<std::uint64_t> LimitOf(const Files& files) {
  return CgroupMemoryLimitBytes([&](const std::string& path) -> std::optional<std::string> {
    const auto file = files.find(path);
    if (file == files.end()) return std::nullopt;
    return file->second;
  });
}

TEST(MemoryLimit, IsTheSmallestOfTheCgroupAndItsParents) {
  Files files = {{"/proc/self/cgroup", "0::/system.slice/tidemark.service\n"},
                 {"/sys/fs/cgroup/system.slice/tidemark.service/memory.max", "3000000\n"},
                 {"/sys/fs/cgroup/system.slice/memory.max", "max\n"}};
  EXPECT_EQ(LimitOf(files), 3'000'000U);
  files["/sys/fs/cgroup/system.slice/memory.max"] = "2000000\n";
  EXPECT_EQ(LimitOf(files), 2'000'000U);
}

TEST(MemoryLimit, IsReadAtTheRootInAContainer) {
  for (const char* path : {"/", "/../other", "/docker/0123456789ab"}) {
    EXPECT_EQ(LimitOf({{"/proc/self/cgroup", std::string("0::") + path + "\n"},
                       {"/sys/fs/cgroup/memory.max", "4294967296\n"},
                       {"/sys/fs/other/memory.max", "1\n"}}),
              std::uint64_t{4} << 30)
        << path;
  }
}

TEST(MemoryLimit, IsReadFromTheMemoryControllerInVersionOne) {
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n"},
                     {"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
                     {"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n"}}),
            1000U);
  EXPECT_EQ(LimitOf({{"/proc/self/cgroup", "4:hugetlb,memory:/a:b\n"},
                     {"/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes", "77\n"}}),
            77U)
      << "a colon may be part of a name";
}

TEST(MemoryLimit, IsNoneIfNoFileStatesOne) {
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

TEST(MemoryLimit, OfThisProcessIsPositive) { EXPECT_GE(HalfOfTheMemoryBytes(), 1U); }

}  // namespace
}  // namespace tidemark::service::shares_test
