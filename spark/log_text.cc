#include "spark/log_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lz4.h>
#include <lz4frame.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace tidemark::spark {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kUnpackedPieceBytes = std::size_t{128} << 10;

absl::Status Damaged(std::string_view what, std::string_view why) {
  return absl::DataLossError(fmt::format("damaged {}: {}", what, why));
}

// A format whose decoder writes pieces into a buffer.
class Stream : public Unpacker::Format {
 protected:
  // Appends to `out` in pieces. `step` writes a piece and sets its size. Continues while pieces are
  // full and `has_more` returns true, since decoders may consume their whole input before their
  // output is complete. After an error, `out` contains the output before the damage.
  template <typename Step, typename More>
  absl::Status UnpackPieces(std::string& out, const Step& step, const More& has_more) {
    for (bool is_full = true; is_full;) {
      std::size_t written = 0;
      const absl::Status status = step(piece_.data(), written);
      out.append(piece_, 0, written);
      if (!status.ok()) return status;
      is_full = written == kUnpackedPieceBytes && has_more();
    }
    return absl::OkStatus();
  }

 private:
  std::string piece_ = std::string(kUnpackedPieceBytes, '\0');
};

// Returns the number of packed bytes to decode at once. Decoders drop the output of a call that
// finds damage, so each call decodes one block. `wanted` is the number of bytes that the decoder
// expects, including the next block's header of `header` bytes, or 0 before a frame.
std::size_t OneBlock(std::size_t wanted, std::size_t header) {
  constexpr std::size_t kFrameHeader = 16;
  if (wanted == 0) return kFrameHeader;
  return wanted > header ? wanted - header : wanted;
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

class Zstd : public Stream {
 public:
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    ZSTD_inBuffer from = {packed.data(), std::min(packed.size(), OneBlock(left_, 3)), 0};
    const auto step = [&](char* piece, std::size_t& written) -> absl::Status {
      ZSTD_outBuffer to = {piece, kUnpackedPieceBytes, 0};
      left_ = ZSTD_decompressStream(stream_.get(), &to, &from);
      if (ZSTD_isError(left_) != 0) return Damaged("zstd frame", ZSTD_getErrorName(left_));
      written = to.pos;
      return absl::OkStatus();
    };
    const absl::Status unpacked = UnpackPieces(out, step, [&] { return left_ != 0; });
    if (!unpacked.ok()) return unpacked;
    return from.pos;
  }
  bool is_cut() const override { return left_ != 0; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_{ZSTD_createDStream(),
                                                                     &ZSTD_freeDStream};
  std::size_t left_ = 0;  // bytes up to the end of the next block; 0 between frames
};

class Lz4Frames : public Stream {
 public:
  Lz4Frames() { LZ4F_createDecompressionContext(&context_, LZ4F_VERSION); }
  ~Lz4Frames() override { LZ4F_freeDecompressionContext(context_); }
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    std::size_t all_taken = 0;
    packed = packed.substr(0, OneBlock(left_, 4));
    const auto step = [&](char* piece, std::size_t& written) -> absl::Status {
      std::size_t taken = packed.size() - all_taken;
      std::size_t size = kUnpackedPieceBytes;
      left_ = LZ4F_decompress(context_, piece, &size, packed.data() + all_taken, &taken, nullptr);
      if (LZ4F_isError(left_) != 0) return Damaged("LZ4 frame", LZ4F_getErrorName(left_));
      all_taken += taken;
      written = size;
      return absl::OkStatus();
    };
    const absl::Status unpacked = UnpackPieces(out, step, [&] { return left_ != 0; });
    if (!unpacked.ok()) return unpacked;
    return all_taken;
  }
  bool is_cut() const override { return left_ != 0; }

 private:
  LZ4F_dctx* context_ = nullptr;
  std::size_t left_ = 0;
};

class Gzip : public Stream {
 public:
  Gzip() {
    constexpr int kWithHeader = 16;
    inflateInit2(&stream_, MAX_WBITS + kWithHeader);
  }
  ~Gzip() override { inflateEnd(&stream_); }
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    if (is_between_ && packed[0] == '\0') return 1;  // Padding of tapes and disks.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(std::min(packed.size(), kUnpackedPieceBytes));
    const std::size_t given = stream_.avail_in;
    const auto step = [&](char* piece, std::size_t& written) -> absl::Status {
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = kUnpackedPieceBytes;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      written = kUnpackedPieceBytes - stream_.avail_out;
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return Damaged("gzip member", stream_.msg != nullptr ? stream_.msg : zError(status));
      }
      is_between_ = status == Z_STREAM_END;
      if (is_between_) inflateReset(&stream_);
      return absl::OkStatus();
    };
    const absl::Status unpacked =
        UnpackPieces(out, step, [&] { return stream_.avail_in == 0 && !is_between_; });
    if (!unpacked.ok()) return unpacked;
    return given - stream_.avail_in;
  }
  bool is_cut() const override { return !is_between_; }

 private:
  z_stream stream_ = {};
  bool is_between_ = false;  // whether the input is between two members
};

// A format of blocks, each with a header that states its size. Assembles whole blocks from pieces.
class Blocks : public Unpacker::Format {
 public:
  absl::StatusOr<std::size_t> Unpack(std::string_view packed, std::string& out) override {
    if (block_.empty()) wanted_ = HeadBytes();
    const std::size_t taken = std::min(packed.size(), wanted_ - block_.size());
    block_ += packed.substr(0, taken);
    if (block_.size() < wanted_) return taken;
    const absl::StatusOr<std::size_t> size = SizeOf(block_);
    if (!size.ok()) return size.status();
    if (*size > block_.size()) {
      wanted_ = *size;
      return taken;
    }
    const std::size_t before = out.size();
    const absl::Status status = Decode(block_, out);
    block_.clear();
    if (status.ok()) return taken;
    out.resize(before);
    return status;
  }
  bool is_cut() const override { return !block_.empty(); }

 private:
  // Returns the size of the smallest header.
  virtual std::size_t HeadBytes() const = 0;
  // Returns the size of the block that begins with this header, or the size of a longer header that
  // states it. Fails with DataLoss if the header is invalid.
  virtual absl::StatusOr<std::size_t> SizeOf(std::string_view begin) const = 0;
  // Appends the contents of a whole block.
  virtual absl::Status Decode(std::string_view block, std::string& out) const = 0;

  std::string block_;  // bytes of the block so far
  std::size_t wanted_ = 0;
};

// Returns `count` bytes, at most four, as a little-endian number.
std::uint32_t Little(std::string_view bytes, std::size_t at, std::size_t count = 4) {
  std::uint32_t number = 0;
  for (std::size_t i = count; i-- > 0;) {
    number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return number;
}

std::uint32_t Big(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

// The largest block that any of the formats uses.
constexpr std::uint32_t kBlockMax = std::uint32_t{1} << 25;

// LZ4BlockOutputStream of lz4-java writes blocks, each preceded by a header of 21 bytes.
constexpr std::string_view kBlockMagic = "LZ4Block"sv;

class Lz4Blocks : public Blocks {
 private:
  static constexpr std::size_t kHeaderBytes = 21;
  static constexpr std::uint32_t kChecksumSeed = 0x9747b28c;
  static constexpr std::uint32_t kChecksumMask = 0x0fffffff;
  static constexpr std::uint8_t kStored = 0x10;
  static constexpr std::uint8_t kCompressed = 0x20;

  static std::uint8_t MethodOf(std::string_view block) {
    return static_cast<std::uint8_t>(block[8]) & 0xf0;
  }

  std::size_t HeadBytes() const override { return kHeaderBytes; }

  absl::StatusOr<std::size_t> SizeOf(std::string_view begin) const override {
    if (!begin.starts_with(kBlockMagic)) {
      return Damaged("LZ4 block", "its header is invalid");
    }
    const std::uint32_t packed = Little(begin, 9);
    const std::uint32_t unpacked = Little(begin, 13);
    const bool fits =
        MethodOf(begin) == kStored ? packed == unpacked : MethodOf(begin) == kCompressed;
    if (!fits || unpacked > kBlockMax || packed > LZ4_COMPRESSBOUND(kBlockMax)) {
      return Damaged("LZ4 block", "its sizes are invalid");
    }
    return kHeaderBytes + packed;
  }

  absl::Status Decode(std::string_view block, std::string& out) const override {
    const std::string_view data = block.substr(kHeaderBytes);
    // This is the end of a stream. Another stream may follow.
    if (data.empty()) return absl::OkStatus();
    const std::size_t before = out.size();
    if (MethodOf(block) == kStored) {
      out += data;
    } else {
      const std::uint32_t unpacked = Little(block, 13);
      out.resize(before + unpacked);
      const int size =
          LZ4_decompress_safe(data.data(), out.data() + before, static_cast<int>(data.size()),
                              static_cast<int>(unpacked));
      if (size != static_cast<int>(unpacked)) {
        return Damaged("LZ4 block", "its contents do not match its header");
      }
    }
    const XXH32_hash_t checksum = XXH32(out.data() + before, out.size() - before, kChecksumSeed);
    if ((checksum & kChecksumMask) == Little(block, 17)) return absl::OkStatus();
    return Damaged("LZ4 block", "its checksum is invalid");
  }
};

// Reads a block of a format that copies earlier bytes, byte by byte.
class Copier {
 public:
  Copier(std::string_view data, std::string& out) : data_(data), out_(out), from_(out.size()) {}

  bool at_end() const { return at_ == data_.size(); }
  std::size_t size() const { return out_.size() - from_; }
  // Returns the next `count` bytes, at most four, as a little-endian number, or nullopt if the
  // block has fewer bytes.
  std::optional<std::uint32_t> Number(std::size_t count) {
    if (data_.size() - at_ < count) return std::nullopt;
    at_ += count;
    return Little(data_, at_ - count, count);
  }
  // Appends the next `count` bytes. Returns false if the block has fewer bytes, or if the result
  // would exceed `most` bytes.
  bool Literal(std::size_t count, std::size_t most) {
    if (data_.size() - at_ < count || count > most - size()) return false;
    out_ += data_.substr(at_, count);
    at_ += count;
    return true;
  }
  // Appends `count` bytes from `back` bytes before the end. The two ranges may overlap.
  bool Copy(std::size_t back, std::size_t count, std::size_t most) {
    if (back == 0 || back > size() || count > most - size()) return false;
    for (std::size_t i = 0; i < count; ++i) out_ += out_[out_.size() - back];
    return true;
  }

 private:
  const std::string_view data_;
  std::string& out_;
  const std::size_t from_;
  std::size_t at_ = 0;
};

// Decodes all elements of a block of `size` unpacked bytes with `element`, which returns false for
// an invalid element.
absl::Status DecodeElements(std::string_view what, std::size_t size, Copier& data,
                            bool (*element)(Copier& data, std::size_t most)) {
  bool is_valid = true;
  while (is_valid && !data.at_end()) is_valid = element(data, size);
  if (is_valid && data.size() == size) return absl::OkStatus();
  return Damaged(what, "its contents do not match its header");
}

// SnappyOutputStream of snappy-java writes a header of 16 bytes, then blocks, each preceded by its
// size. Another header may follow.
constexpr std::string_view kSnappyMagic = "\x82SNAPPY\x00"sv;

class Snappy : public Blocks {
 private:
  static constexpr std::size_t kSizeBytes = 4;
  static constexpr std::size_t kHeaderBytes = 16;

  std::size_t HeadBytes() const override { return kSizeBytes; }

  absl::StatusOr<std::size_t> SizeOf(std::string_view begin) const override {
    if (kSnappyMagic.starts_with(begin.substr(0, kSizeBytes))) return kHeaderBytes;
    const std::uint32_t size = Big(begin.substr(0, kSizeBytes));
    if (size > 2 * kBlockMax) return Damaged("snappy block", "its size is invalid");
    return kSizeBytes + size;
  }

  // format_description.txt of snappy describes the format.
  absl::Status Decode(std::string_view block, std::string& out) const override {
    if (kSnappyMagic.starts_with(block.substr(0, kSizeBytes))) {
      if (block.starts_with(kSnappyMagic)) return absl::OkStatus();
      return Damaged("snappy block", "its header is invalid");
    }
    if (block.size() == kSizeBytes) return absl::OkStatus();
    Copier data(block.substr(kSizeBytes), out);
    std::uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = data.Number(1);
      if (!byte || shift > 28) return Damaged("snappy block", "its size is invalid");
      size |= std::uint64_t{*byte & 0x7f} << shift;
      if (*byte < 0x80) break;
    }
    if (size > kBlockMax) return Damaged("snappy block", "its size is invalid");
    return DecodeElements("snappy block", size, data, Element);
  }

  static bool Element(Copier& data, std::size_t most) {
    const std::uint32_t tag = *data.Number(1);
    std::size_t length = (tag >> 2) + 1;
    switch (tag & 3) {
      case 0: {
        constexpr std::size_t kLongest = 60;
        if (length > kLongest) {
          const auto longer = data.Number(length - kLongest);
          if (!longer) return false;
          length = std::size_t{*longer} + 1;
        }
        return data.Literal(length, most);
      }
      case 1: {
        const auto low = data.Number(1);
        return low && data.Copy((tag >> 5) << 8 | *low, ((tag >> 2) & 7) + 4, most);
      }
      default: {
        const auto back = data.Number((tag & 3) == 2 ? 2 : 4);
        return back && data.Copy(*back, length, most);
      }
    }
  }
};

// LZFOutputStream of compress-lzf writes chunks of up to 64 KiB, each preceded by a header.
constexpr std::string_view kLzfMagics[] = {"ZV\x00"sv, "ZV\x01"sv};

class Lzf : public Blocks {
 private:
  static constexpr std::size_t kStoredHeaderBytes = 5;
  static constexpr std::size_t kPackedHeaderBytes = 7;

  std::size_t HeadBytes() const override { return kStoredHeaderBytes; }

  absl::StatusOr<std::size_t> SizeOf(std::string_view begin) const override {
    const bool is_stored = begin.starts_with(kLzfMagics[0]);
    if (!is_stored && !begin.starts_with(kLzfMagics[1])) {
      return Damaged("LZF chunk", "its header is invalid");
    }
    return (is_stored ? kStoredHeaderBytes : kPackedHeaderBytes) + Big(begin.substr(3, 2));
  }

  absl::Status Decode(std::string_view block, std::string& out) const override {
    if (block.starts_with(kLzfMagics[0])) {
      out += block.substr(kStoredHeaderBytes);
      return absl::OkStatus();
    }
    const std::size_t size = Big(block.substr(5, 2));
    Copier data(block.substr(kPackedHeaderBytes), out);
    return DecodeElements("LZF chunk", size, data, Element);
  }

  static bool Element(Copier& data, std::size_t most) {
    const std::uint32_t control = *data.Number(1);
    if (control < 32) return data.Literal(control + 1, most);
    std::size_t length = control >> 5;
    if (length == 7) {
      const auto more = data.Number(1);
      if (!more) return false;
      length += *more;
    }
    const auto low = data.Number(1);
    return low && data.Copy(((control & 31) << 8 | *low) + 1, length + 2, most);
  }
};

template <typename F>
std::unique_ptr<Unpacker::Format> Make() {
  return std::make_unique<F>();
}

// The first bytes of a format, and its reader, which is null if the format is not supported.
struct Known {
  std::string_view magic;
  std::unique_ptr<Unpacker::Format> (*make)();
  const char* name;
};
constexpr Known kKnown[] = {{"\x28\xb5\x2f\xfd"sv, Make<Zstd>, "zstd"},
                            {"\x04\x22\x4d\x18"sv, Make<Lz4Frames>, "lz4"},
                            {kBlockMagic, Make<Lz4Blocks>, "lz4"},
                            {kSnappyMagic, Make<Snappy>, "snappy"},
                            {kLzfMagics[0], Make<Lzf>, "lzf"},
                            {kLzfMagics[1], Make<Lzf>, "lzf"},
                            {"\x1f\x8b"sv, Make<Gzip>, "gzip"},
                            {"BZh"sv, nullptr, "bzip2"},
                            {"\xfd\x37\x7a\x58\x5a\x00"sv, nullptr, "xz"},
                            {"7z\xbc\xaf\x27\x1c"sv, nullptr, "7-Zip"}};
constexpr std::size_t kMagicMax = 8;

}  // namespace

Unpacker::Unpacker() = default;
Unpacker::~Unpacker() = default;

bool Unpacker::is_cut() const { return format_ != nullptr && format_->is_cut(); }

absl::StatusOr<std::size_t> Unpacker::Unpack(std::string_view packed, std::string& out) {
  if (format_ != nullptr) {
    // A format unpacks one block at a time, and blocks may be tiny.
    const std::size_t before = out.size();
    std::size_t all_taken = 0;
    while (all_taken < packed.size() && out.size() - before < kUnpackedPieceBytes) {
      const auto unpacked = format_->Unpack(packed.substr(all_taken), out);
      if (!unpacked.ok()) return unpacked.status();
      all_taken += *unpacked;
    }
    return all_taken;
  }
  // A file may arrive byte by byte, but no text of Spark begins with the first byte of a magic.
  const std::size_t before = head_.size();
  head_ += packed.substr(0, kMagicMax - before);
  const Known* known = nullptr;
  for (const Known& one : kKnown) {
    const std::string_view begin = std::string_view(head_).substr(0, one.magic.size());
    if (begin == one.magic) known = &one;
    const bool is_undecided = begin.size() < one.magic.size() && one.magic.starts_with(begin);
    if (is_undecided) return head_.size() - before;
  }
  if (known != nullptr && known->make == nullptr) {
    return absl::UnimplementedError(
        fmt::format("compressed with {}, which is not supported; decompress it, or compress it "
                    "with zstd, lz4 or gzip",
                    known->name));
  }
  format_ = known != nullptr ? known->make() : Make<Plain>();
  const std::size_t taken = head_.size() - before;
  for (std::string_view head = head_; !head.empty();) {
    const absl::StatusOr<std::size_t> unpacked = format_->Unpack(head, out);
    if (!unpacked.ok()) return unpacked.status();
    head.remove_prefix(*unpacked);
  }
  return taken;
}

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
// Number of bytes that identify a followed file. Another log has other bytes at the same position.
constexpr std::size_t kSeenBytes = 1024;

absl::Status CannotReadFile(const std::string& file) {
  return absl::UnavailableError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

absl::Status Replaced(const std::string& file) {
  return absl::AbortedError(fmt::format(
      "{} was truncated or replaced while being followed; reading it again from the start", file));
}

}  // namespace

LogText::~LogText() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<LogText::Step> LogText::Read() {
  text_.clear();
  if (!damage_.ok()) return damage_;
  if (!is_open_) {
    if (absl::Status opened = OpenFile(); !opened.ok()) return opened;
    return Step::kFile;
  }
  is_cut_ = unpacker_->is_cut();
  if (packed_at_ == packed_.size()) {
    if (absl::Status read = ReadFile(); !read.ok()) return read;
    if (packed_.empty()) return NextFile();
  }
  const absl::StatusOr<std::size_t> taken =
      unpacker_->Unpack(std::string_view(packed_).substr(packed_at_), text_);
  if (!taken.ok()) {
    damage_ =
        absl::Status(taken.status().code(),
                     fmt::format("{}: {}", files_[file_], std::string(taken.status().message())));
    if (text_.empty()) return damage_;
  }
  packed_at_ += taken.value_or(0);
  bytes_ += text_.size();
  is_cut_ = unpacker_->is_cut();
  return Step::kText;
}

absl::Status LogText::OpenFile() {
  const std::string& file = files_[file_];
  if (IsInArchive(file)) {
    auto archived = ArchivedFile::Open(file);
    if (!archived.ok()) return archived.status();
    archived_ = *std::move(archived);
  } else {
    descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) return CannotReadFile(file);
    struct stat what;
    if (fstat(descriptor_, &what) != 0) return CannotReadFile(file);
    if (!S_ISREG(what.st_mode)) {
      return absl::InvalidArgumentError(fmt::format("{} must be a regular file", file));
    }
  }
  unpacker_ = std::make_unique<Unpacker>();
  is_open_ = true;
  return absl::OkStatus();
}

// Reads the next piece of the file into packed_. Reads seen_ and the bytes after it in one call,
// which proves that both belong to the same file.
absl::Status LogText::ReadFile() {
  packed_at_ = 0;
  if (archived_ != nullptr) {
    packed_.clear();
    return archived_->Read(kReadBytes, packed_);
  }
  packed_.resize(seen_.size() + kReadBytes);
  ssize_t size = 0;
  do {
    size = pread(descriptor_, packed_.data(), packed_.size(),
                 static_cast<off_t>(file_bytes_ - seen_.size()));
  } while (size < 0 && errno == EINTR);
  const int error = errno;
  packed_.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size < 0) {
    errno = error;
    return CannotReadFile(files_[file_]);
  }
  if (!packed_.starts_with(seen_)) return Replaced(files_[file_]);
  packed_.erase(0, seen_.size());
  file_bytes_ += packed_.size();
  if (follows_) {
    seen_ += packed_;
    if (seen_.size() > kSeenBytes) seen_.erase(0, seen_.size() - kSeenBytes);
  }
  return absl::OkStatus();
}

// Opens the next file, which Spark starts once the current file is complete.
absl::StatusOr<LogText::Step> LogText::NextFile() {
  if (file_ + 1 == files_.size() && follows_) {
    if (auto next = FileAfter(files_[file_])) files_.push_back(*std::move(next));
  }
  if (file_ + 1 == files_.size()) {
    if (follows_ && IsRenamed()) return Replaced(files_[file_]);
    return Step::kEnd;
  }
  ++file_;
  file_bytes_ = 0;
  seen_.clear();
  is_open_ = false;
  archived_.reset();
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  return Read();
}

// Returns true if the path of the current file now leads to another file.
bool LogText::IsRenamed() const {
  struct stat opened;
  struct stat named;
  return fstat(descriptor_, &opened) == 0 && stat(files_[file_].c_str(), &named) == 0 &&
         (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev);
}

}  // namespace tidemark::spark
