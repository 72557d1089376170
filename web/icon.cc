#include "web/icon.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace tidemark::web {
namespace {

constexpr std::uint32_t kSize = 32;  // pixels, of each side
constexpr std::uint32_t kMaskBytes = kSize * kSize / 8;
constexpr std::uint32_t kHeaderBytes = 40;
constexpr std::uint32_t kOffset = 22;  // of the picture in the file
// Blue, green, red, opacity.
constexpr std::string_view kClear("\0\0\0\0", 4);
constexpr std::string_view kTide("\xb4\x6e\x1f\xff", 4);
constexpr std::string_view kMark("\x2d\x55\xd9\xff", 4);

void AddNumber(std::uint32_t number, int bytes, std::string& file) {
  for (; bytes > 0; --bytes, number >>= 8) file += static_cast<char>(number & 0xff);
}

std::string_view ColorAt(std::uint32_t x, std::uint32_t y) {
  const double surface = 19 - 2.5 * std::sin(2 * std::numbers::pi * x / 16.0);
  if (y >= surface && y < kSize - 3) return kTide;
  return y >= 8 && y < 11 && x >= 5 && x < kSize - 5 ? kMark : kClear;
}

}  // namespace

std::string IconFile() {
  std::string file;
  AddNumber(0, 2, file);  // reserved
  AddNumber(1, 2, file);  // an icon
  AddNumber(1, 2, file);  // pictures
  AddNumber(kSize, 1, file);
  AddNumber(kSize, 1, file);
  AddNumber(0, 2, file);  // no palette; reserved
  AddNumber(1, 2, file);  // planes
  AddNumber(32, 2, file);
  AddNumber(kHeaderBytes + 4 * kSize * kSize + kMaskBytes, 4, file);
  AddNumber(kOffset, 4, file);
  AddNumber(kHeaderBytes, 4, file);
  AddNumber(kSize, 4, file);
  AddNumber(2 * kSize, 4, file);  // the colors and the mask
  AddNumber(1, 2, file);
  AddNumber(32, 2, file);
  file.append(kHeaderBytes - 16, '\0');
  for (std::uint32_t y = kSize; y-- > 0;) {  // from below
    for (std::uint32_t x = 0; x < kSize; ++x) file += ColorAt(x, y);
  }
  file.append(kMaskBytes, '\0');  // the opacity of the colors counts
  return file;
}

}  // namespace tidemark::web
