#include "streaming/key_hash.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/vectors/vectors.h"

namespace tidemark::streaming {
namespace {

TEST(HashKey, OfNothingIsThePublishedConstant) {
  EXPECT_EQ(HashKey(""), KeyHash{0xef46db3751d8e999});
}

// Every implementation of the hash, in whatever language, must give these.
TEST(HashKey, AgreesWithTheSharedVectors) {
  const auto golden = vectors::Read("key_hash.json");
  ASSERT_GE(golden.size(), 40u);
  for (const auto& vector : golden) {
    const std::string key = vectors::FromHex(vector["key_hex"]);
    EXPECT_EQ(HashKey(key), KeyHash{vectors::ParseHash(vector["hash"])}) << vector["key_hex"];
  }
}

}  // namespace
}  // namespace tidemark::streaming
