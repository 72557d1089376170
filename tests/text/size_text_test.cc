#include "text/size_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

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

}  // namespace
}  // namespace tidemark::text
