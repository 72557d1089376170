#include "text/size_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace tidemark::text {
namespace {

TEST(SizeText, FewBytesAreCounted) {
  EXPECT_EQ(SizeText(0), "0 B");
  EXPECT_EQ(SizeText(999), "999 B");
}

TEST(SizeText, MoreAreInTheLargestUnitOfWhichThereIsOne) {
  EXPECT_EQ(SizeText(1'000), "1.0 kB");
  EXPECT_EQ(SizeText(12'400'000), "12.4 MB");
  EXPECT_EQ(SizeText(4'000'000'000'000), "4.0 TB");
}

TEST(SizeText, TheLargestUnitHoldsAllThatIsLarger) {
  EXPECT_EQ(SizeText(std::numeric_limits<std::uint64_t>::max()), "18446.7 PB");
}

TEST(SizeIn, ReadsWholeNumbersOfBytesAndOfLargerUnits) {
  EXPECT_EQ(SizeIn("0"), 0U);
  EXPECT_EQ(SizeIn("256"), 256U);
  EXPECT_EQ(SizeIn("7B"), 7U);
  EXPECT_EQ(SizeIn("4g"), std::uint64_t{4} << 30);
  EXPECT_EQ(SizeIn("10 KiB"), 10'240U);
  EXPECT_EQ(SizeIn("3mb"), 3U << 20);
  EXPECT_EQ(SizeIn("2Ti"), std::uint64_t{2} << 40);
}

TEST(SizeIn, KnowsNoneInWhatIsNoSize) {
  for (const char* word : {"", "-1", "+1", "much", "xb", "5xb", "5bb", "5kk", "1.5g", " 5"}) {
    EXPECT_EQ(SizeIn(word), std::nullopt) << word;
  }
}

TEST(SizeIn, KnowsNoneThatDoesNotFit) {
  EXPECT_EQ(SizeIn("15E"), std::uint64_t{15} << 60);
  EXPECT_EQ(SizeIn("16E"), std::nullopt);
  EXPECT_EQ(SizeIn("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(SizeIn("18446744073709551616"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::text
