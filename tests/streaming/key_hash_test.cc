#include "streaming/key_hash.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::streaming {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::uint64_t ParseHash(const std::string& hex) {
  std::uint64_t hash = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), hash, 16);
  return hash;
}

TEST(HashKey, OfNothingIsThePublishedConstant) {
  EXPECT_EQ(HashKey(""), KeyHash{0xef46db3751d8e999});
}

// Every implementation of the hash, in whatever language, must give these.
TEST(HashKey, AgreesWithTheSharedVectors) {
  std::ifstream file(TIDEMARK_VECTORS "/key_hash.json");
  const auto vectors = nlohmann::json::parse(file);
  ASSERT_GE(vectors.size(), 40u);
  for (const auto& vector : vectors) {
    const std::string key = FromHex(vector["key_hex"]);
    EXPECT_EQ(HashKey(key), KeyHash{ParseHash(vector["hash"])}) << vector["key_hex"];
  }
}

}  // namespace
}  // namespace tidemark::streaming
