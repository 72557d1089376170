// Reads the golden values in this folder, which tests of agents in other languages also read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::vectors {

inline nlohmann::json Read(const std::string& name) {
  std::ifstream file(std::string(TIDEMARK_VECTORS "/") + name);
  return nlohmann::json::parse(file);
}

inline std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

inline std::uint64_t ParseHash(const std::string& hex) { return std::stoull(hex, nullptr, 16); }

}  // namespace tidemark::vectors
