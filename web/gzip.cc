#include "web/gzip.h"

#include <zlib.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tidemark::web {
namespace {

// Thousands of streams may be open. A window of 4 KiB and a total of 32 KiB, instead of 256 KiB,
// compress the JSON of one update nearly as well.
constexpr int kWindowBits = 12;
constexpr int kGzip = 16;
constexpr int kMemoryLevel = 5;
constexpr int kLevel = 4;

class ZlibStream final : public GzipStream {
 public:
  bool Begin() {
    is_open_ = deflateInit2(&stream_, kLevel, Z_DEFLATED, kWindowBits + kGzip, kMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK;
    return is_open_;
  }
  ~ZlibStream() override {
    if (is_open_) deflateEnd(&stream_);
  }
  std::string Add(std::string_view text, bool flush) override {
    return Deflate(text, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH);
  }
  std::string End() override { return Deflate("", Z_FINISH); }

 private:
  std::string Deflate(std::string_view text, int flush) {
    std::string bytes;
    char block[4096];
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block);
      stream_.avail_out = sizeof(block);
      deflate(&stream_, flush);
      bytes.append(block, sizeof(block) - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return bytes;
  }

  z_stream stream_ = {};
  bool is_open_ = false;
};

// Returns true for a parameter such as "q=0" or " Q = 0.000".
bool IsWeightOfZero(absl::string_view parameter) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(parameter, absl::MaxSplits('=', 1));
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "q")) return false;
  const absl::string_view weight = absl::StripAsciiWhitespace(parts.second);
  return weight.find_first_not_of("0.") == absl::string_view::npos;
}

}  // namespace

std::unique_ptr<GzipStream> GzipStream::Start() {
  auto stream = std::make_unique<ZlibStream>();
  if (!stream->Begin()) return nullptr;
  return stream;
}

std::optional<std::string> Gunzip(std::string_view bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, MAX_WBITS + kGzip) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK) {
    char block[16384];
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof(block);
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(block, sizeof(block) - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return text;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  const absl::string_view header(accept_encoding.data(), accept_encoding.size());
  for (const absl::string_view coding : absl::StrSplit(header, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(coding, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), "gzip")) continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (IsWeightOfZero(parts[i])) return false;
    }
    return true;
  }
  return false;
}

}  // namespace tidemark::web
