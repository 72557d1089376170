#include "spark/unpacker.h"

#include <fmt/format.h>
#include <lz4.h>
#include <lz4frame.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"

namespace tidemark::spark {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kUnpackedPieceBytes = std::size_t{128} << 10;

absl::Status Damaged(std::string_view what, std::string_view why) {
  return absl::DataLossError(fmt::format("damaged {}: {}", what, why));
}

class Plain : public Unpacker::Format {
 public:
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    const std::string_view piece = packed.substr(0, kUnpackedPieceBytes);
    out += piece;
    return piece.size();
  }
  bool is_cut() const override { return false; }
};

class Zstd : public Unpacker::Format {
 public:
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    ZSTD_inBuffer from = {packed.data(), packed.size(), 0};
    // What is taken is told, though nothing may follow it: a full piece may not be all.
    for (bool is_full = true; is_full;) {
      const std::size_t before = out.size();
      out.resize(before + kUnpackedPieceBytes);
      ZSTD_outBuffer to = {out.data() + before, kUnpackedPieceBytes, 0};
      left_ = ZSTD_decompressStream(stream_.get(), &to, &from);
      out.resize(before + to.pos);
      if (ZSTD_isError(left_) != 0) return Damaged("zstd frame", ZSTD_getErrorName(left_));
      is_full = to.pos == kUnpackedPieceBytes && from.pos == packed.size() && left_ != 0;
    }
    return from.pos;
  }
  bool is_cut() const override { return left_ != 0; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_{ZSTD_createDStream(),
                                                                     &ZSTD_freeDStream};
  std::size_t left_ = 0;  // 0: between frames
};

class Lz4Frames : public Unpacker::Format {
 public:
  Lz4Frames() { LZ4F_createDecompressionContext(&context_, LZ4F_VERSION); }
  ~Lz4Frames() override { LZ4F_freeDecompressionContext(context_); }
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    std::size_t all_taken = 0;
    for (bool is_full = true; is_full;) {  // as of zstd
      const std::size_t before = out.size();
      out.resize(before + kUnpackedPieceBytes);
      std::size_t taken = packed.size() - all_taken;
      std::size_t given = kUnpackedPieceBytes;
      left_ = LZ4F_decompress(context_, out.data() + before, &given, packed.data() + all_taken,
                              &taken, nullptr);
      const bool is_damaged = LZ4F_isError(left_) != 0;
      out.resize(before + (is_damaged ? 0 : given));
      if (is_damaged) return Damaged("LZ4 frame", LZ4F_getErrorName(left_));
      all_taken += taken;
      is_full = given == kUnpackedPieceBytes && all_taken == packed.size() && left_ != 0;
    }
    return all_taken;
  }
  bool is_cut() const override { return left_ != 0; }

 private:
  LZ4F_dctx* context_ = nullptr;
  std::size_t left_ = 0;
};

// What LZ4BlockOutputStream of lz4-java writes: blocks behind headers of 21 bytes.
constexpr std::string_view kBlockMagic = "LZ4Block"sv;
constexpr std::size_t kHeaderBytes = 21;
constexpr std::uint32_t kBlockMax = std::uint32_t{1} << 25;  // the largest that it writes
constexpr std::uint32_t kChecksumSeed = 0x9747b28c;
constexpr std::uint32_t kChecksumMask = 0x0fffffff;
constexpr std::uint8_t kStored = 0x10;
constexpr std::uint8_t kCompressed = 0x20;

class Lz4Blocks : public Unpacker::Format {
 public:
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    const std::size_t wanted = block_.size() < kHeaderBytes ? kHeaderBytes : size_;
    const std::size_t taken = std::min(packed.size(), wanted - block_.size());
    block_ += packed.substr(0, taken);
    if (block_.size() < wanted) return taken;
    if (wanted == kHeaderBytes) {
      if (absl::Status header = ReadHeader(); !header.ok()) return header;
      if (size_ > kHeaderBytes) return taken;
    }
    absl::Status status = ReadBlock(out);
    block_.clear();
    if (!status.ok()) return status;
    return taken;
  }
  bool is_cut() const override { return !block_.empty(); }

 private:
  std::uint32_t Number(std::size_t at) const {
    std::uint32_t number = 0;
    for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<std::uint8_t>(block_[at + i]);
    return number;
  }

  absl::Status ReadHeader() {
    if (!std::string_view(block_).starts_with(kBlockMagic)) {
      return Damaged("LZ4 block", "it does not begin like one");
    }
    method_ = static_cast<std::uint8_t>(block_[8]) & 0xf0;
    const std::uint32_t packed = Number(9);
    unpacked_ = Number(13);
    checksum_ = Number(17);
    const bool fits = method_ == kStored ? packed == unpacked_ : method_ == kCompressed;
    if (!fits || unpacked_ > kBlockMax || packed > LZ4_COMPRESSBOUND(kBlockMax)) {
      return Damaged("LZ4 block", "its sizes are wrong");
    }
    size_ = kHeaderBytes + packed;
    return absl::OkStatus();
  }

  absl::Status ReadBlock(std::string& out) const {
    const std::string_view data = std::string_view(block_).substr(kHeaderBytes);
    if (data.empty()) return absl::OkStatus();  // the end of one stream; another may follow
    const std::size_t before = out.size();
    if (method_ == kStored) {
      out += data;
    } else {
      out.resize(before + unpacked_);
      const int size =
          LZ4_decompress_safe(data.data(), out.data() + before, static_cast<int>(data.size()),
                              static_cast<int>(unpacked_));
      if (size != static_cast<int>(unpacked_)) {
        out.resize(before);
        return Damaged("LZ4 block", "it does not hold what its header says");
      }
    }
    const XXH32_hash_t checksum = XXH32(out.data() + before, out.size() - before, kChecksumSeed);
    if ((checksum & kChecksumMask) == checksum_) return absl::OkStatus();
    out.resize(before);
    return Damaged("LZ4 block", "its checksum is wrong");
  }

  std::string block_;  // header and data, as far as they have come
  std::size_t size_ = 0;
  std::uint8_t method_ = 0;
  std::uint32_t unpacked_ = 0;
  std::uint32_t checksum_ = 0;
};

// What Spark can be told to write and is not read here.
struct Unknown {
  std::string_view magic;
  const char* name;
};
constexpr Unknown kUnknown[] = {
    {"\x82SNAPPY"sv, "snappy"}, {"ZV\x00"sv, "lzf"}, {"ZV\x01"sv, "lzf"}, {"\x1f\x8b"sv, "gzip"}};
constexpr std::size_t kMagicMax = 8;

}  // namespace

Unpacker::Unpacker() = default;
Unpacker::~Unpacker() = default;

bool Unpacker::is_cut() const { return format_ != nullptr && format_->is_cut(); }

absl::StatusOr<std::size_t> Unpacker::Unpack(std::string_view packed, std::string& out) {
  if (format_ != nullptr) return format_->Unpack(packed, out);
  // A file may arrive byte by byte, but no text of Spark begins with the first byte of a magic.
  const std::size_t before = head_.size();
  head_ += packed.substr(0, kMagicMax - before);
  const auto may_be = [&](std::string_view magic) {
    return std::string_view(head_).substr(0, magic.size()) == magic.substr(0, head_.size());
  };
  const std::string_view zstd = "\x28\xb5\x2f\xfd"sv;
  const std::string_view lz4 = "\x04\x22\x4d\x18"sv;
  bool is_undecided = may_be(zstd) || may_be(lz4) || may_be(kBlockMagic);
  for (const Unknown& unknown : kUnknown) {
    is_undecided |= may_be(unknown.magic);
    if (may_be(unknown.magic) && head_.size() >= unknown.magic.size()) {
      return absl::UnimplementedError(
          fmt::format("it is compressed with {}; unpack it, or set "
                      "spark.eventLog.compression.codec to zstd or lz4",
                      unknown.name));
    }
  }
  if (is_undecided && head_.size() < kMagicMax) return head_.size() - before;
  if (may_be(zstd)) {
    format_ = std::make_unique<Zstd>();
  } else if (may_be(lz4)) {
    format_ = std::make_unique<Lz4Frames>();
  } else if (may_be(kBlockMagic)) {
    format_ = std::make_unique<Lz4Blocks>();
  } else {
    format_ = std::make_unique<Plain>();
  }
  const std::size_t taken = head_.size() - before;
  for (std::string_view head = head_; !head.empty();) {
    const absl::StatusOr<std::size_t> unpacked = format_->Unpack(head, out);
    if (!unpacked.ok()) return unpacked.status();
    head.remove_prefix(*unpacked);
  }
  return taken;
}

}  // namespace tidemark::spark
