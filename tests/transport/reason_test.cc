
#include "tests/test.h"
#include "tests/vectors/vectors.h"
#include "transport/channel.h"

namespace tidemark::transport::reason_test {
namespace {

// The Python package has the same phrases (tests/python/test_breaks.py).
TEST(PlainReason, ContainsNoPhraseOfTheLibraries) {
  const auto golden = vectors::Read("plain_reasons.json");
  ASSERT_GE(golden.size(), 20u);
  for (const auto& vector : golden) {
    const std::string raw = vector["raw"];
    EXPECT_EQ(PlainReason(raw), vector["plain"]) << raw;
    EXPECT_EQ(PlainReason(PlainReason(raw)), vector["plain"]) << raw;
  }
}

}  // namespace
}  // namespace tidemark::transport::reason_test
