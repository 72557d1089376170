#include "text/size_text.h"

#include "tests/test.h"

namespace tidemark::text::size_text_test {
namespace {

TEST(SizeText, ShowsFewBytesExactly) {
  EXPECT_EQ(SizeText(0), "0 B");
  EXPECT_EQ(SizeText(999), "999 B");
}

TEST(SizeText, UsesTheLargestUnitBelowTheSize) {
  EXPECT_EQ(SizeText(1'000), "1.0 kB");
  EXPECT_EQ(SizeText(12'400'000), "12.4 MB");
  EXPECT_EQ(SizeText(4'000'000'000'000), "4.0 TB");
}

TEST(SizeText, ChoosesTheUnitOfTheRoundedSize) {
  EXPECT_EQ(SizeText(999'949), "999.9 kB");
  EXPECT_EQ(SizeText(999'950), "1.0 MB");
  EXPECT_EQ(SizeText(999'949'999), "999.9 MB");
  EXPECT_EQ(SizeText(999'950'000), "1.0 GB");
  EXPECT_EQ(SizeText(999'950'000'000), "1.0 TB");
  EXPECT_EQ(SizeText(999'999'999'999'999), "1.0 PB");
}

TEST(SizeText, UsesTheLargestUnitForLargerSizes) {
  EXPECT_EQ(SizeText(std::numeric_limits<std::uint64_t>::max()), "18446.7 PB");
}

TEST(SizeIn, ParsesWholeNumbersOfUnits) {
  EXPECT_EQ(SizeIn("0"), 0U);
  EXPECT_EQ(SizeIn("256"), 256U);
  EXPECT_EQ(SizeIn("7B"), 7U);
  EXPECT_EQ(SizeIn("4g"), 4'000'000'000U);
  EXPECT_EQ(SizeIn("10GB"), 10'000'000'000U);
  EXPECT_EQ(SizeIn("3mb"), 3'000'000U);
}

TEST(SizeIn, ParsesBinaryUnits) {
  EXPECT_EQ(SizeIn("10 KiB"), 10'240U);
  EXPECT_EQ(SizeIn("10GiB"), std::uint64_t{10} << 30);
  EXPECT_EQ(SizeIn("2Ti"), std::uint64_t{2} << 40);
  EXPECT_EQ(SizeIn("1pib"), std::uint64_t{1} << 50);
}

TEST(SizeIn, ParsesTheUnitsOfSizeText) {
  for (const char* word : {"0 B", "999 B"}) EXPECT_EQ(SizeText(*SizeIn(word)), word);
  for (const char* word : {"1kB", "12MB", "10GB", "7TB", "3PB"}) {
    const std::string written = SizeText(*SizeIn(word));
    const std::string whole = std::string(word).substr(0, std::string(word).size() - 2);
    EXPECT_EQ(written, whole + ".0 " + std::string(word).substr(whole.size()));
  }
}

TEST(ExactSizeText, IsParsedBackToTheSameSize) {
  EXPECT_EQ(ExactSizeText(0), "0");
  EXPECT_EQ(ExactSizeText(1001), "1001");
  EXPECT_EQ(ExactSizeText(1024), "1KiB");
  EXPECT_EQ(ExactSizeText(10'000'000'000), "10GB");
  EXPECT_EQ(ExactSizeText(std::uint64_t{10} << 30), "10GiB");
  EXPECT_EQ(ExactSizeText(std::uint64_t{1} << 50), "1PiB");
  for (const std::uint64_t size :
       {std::uint64_t{1}, std::uint64_t{1'024'000}, std::uint64_t{5'000}, std::uint64_t{3} << 20,
        std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(SizeIn(ExactSizeText(size)), size);
  }
}

TEST(SizeIn, RejectsOtherText) {
  for (const char* word : {"", "-1", "+1", "much", "xb", "5xb", "5bb", "5kk", "1.5g", " 5"}) {
    EXPECT_EQ(SizeIn(word), std::nullopt) << word;
  }
}

TEST(SizeIn, RejectsSizesThatOverflow) {
  EXPECT_EQ(SizeIn("18E"), 18'000'000'000'000'000'000U);
  EXPECT_EQ(SizeIn("19E"), std::nullopt);
  EXPECT_EQ(SizeIn("15EiB"), std::uint64_t{15} << 60);
  EXPECT_EQ(SizeIn("16EiB"), std::nullopt);
  EXPECT_EQ(SizeIn("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(SizeIn("18446744073709551616"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::text::size_text_test
