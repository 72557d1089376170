// Splits the bytes of a fuzz target into pieces. A piece consists of a length of two bytes,
// little-endian, and of that many bytes, or of the remaining bytes if there are fewer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::fuzz {

class Pieces {
 public:
  Pieces(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return left_.size() < 2; }
  std::string_view Next() {
    const auto low = static_cast<unsigned char>(left_[0]);
    const auto high = static_cast<unsigned char>(left_[1]);
    const std::size_t size = std::min<std::size_t>(low + 256U * high, left_.size() - 2);
    const std::string_view piece = left_.substr(2, size);
    left_.remove_prefix(2 + size);
    return piece;
  }

 private:
  std::string_view left_;
};

// Returns the pieces as lines of text.
inline std::string LinesOf(const std::uint8_t* data, std::size_t size) {
  std::string text;
  for (Pieces pieces(data, size); !pieces.empty();) {
    text += pieces.Next();
    text += '\n';
  }
  return text;
}

}  // namespace tidemark::fuzz
