#include <lz4.h>
#include <lz4frame.h>
#include <xxhash.h>
#include <zstd.h>

#include <string_view>

#include "absl/strings/escaping.h"
#include "spark/log_text.h"
#include "tests/spark/packing.h"
#include "tests/test.h"

namespace tidemark::spark::unpacker_test {
namespace {

using test::Gzip;
using test::Zstd;

std::string Text() {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "{\"Event\":" + std::to_string(i) + "}\n";
  return text;
}

std::string Lz4Frame(std::string_view text) {
  std::string packed(LZ4F_compressFrameBound(text.size(), nullptr), '\0');
  packed.resize(
      LZ4F_compressFrame(packed.data(), packed.size(), text.data(), text.size(), nullptr));
  return packed;
}

std::string Little(std::size_t number) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> 8 * i);
  return bytes;
}

// Returns the text as LZ4BlockOutputStream of lz4-java writes it, in blocks of 32 KiB, every second
// of which is stored uncompressed.
std::string Lz4Blocks(std::string_view text) {
  std::string packed;
  bool stores = false;
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 32'768))) {
    const std::string_view block = text.substr(0, 32'768);
    std::string data(LZ4_compressBound(static_cast<int>(block.size())), '\0');
    data.resize(LZ4_compress_default(block.data(), data.data(), static_cast<int>(block.size()),
                                     static_cast<int>(data.size())));
    stores = !stores;
    if (stores) data = block;
    packed += "LZ4Block";
    packed += stores ? '\x15' : '\x25';
    packed += Little(data.size()) + Little(block.size());
    packed += Little(XXH32(block.data(), block.size(), 0x9747b28c) & 0x0fffffff) + data;
  }
  return packed + "LZ4Block\x15" + Little(0) + Little(0) + Little(0);
}

std::string Big(std::size_t number, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(number >> 8 * i);
  return text;
}

// The 770 bytes of FewEvents(), compressed by libsnappy and liblzf.
constexpr char kSnappyBlock[] =
    "ggYseyJFdmVudCI6MH0KFQwAMR0MADIdDAAzHQwANB0MADUdDAA2HQwANx0MADgdDAA5HQwAMTJ5AC56AAAxLnsAADEu"
    "fAAAMS59AAAxLn4AADEufwAAMS6AAAAxLoEAADEuggAAMi6CAAAyLoIAADIuggAAMi6CAAAyLoIAADIuggAAMi6CAAAy"
    "LoIAADIuggAAMi6CAAAzLoIAADMuggAAMy6CAAAzLoIAADMuggAAMy6CAAAzLoIAADMuggAAMy6CAAAzLoIAADQuggAA"
    "NC6CAAA0LoIAADQuggAANC6CAAA0LoIAADQuggAANC6CAAA0LoIAADQuggAANS6CAAA1LoIAADUuggAANS6CAAA1LoIA"
    "ADUuggAANS6CAAA1LoIAADUuggAMNTl9Cg==";
constexpr char kLzfChunk[] =
    "DHsiRXZlbnQiOjB9CnvACwAx4AILADLgAgsAM+ACCwA04AILADXgAgsANuACCwA34AILADjgAgsAOeACCwAx4AR44AN5"
    "ADHgA3oAMeADewAx4AN8ADHgA30AMeADfgAx4AN/ADHgA4AAMeADgQAy4AOBADLgA4EAMuADgQAy4AOBADLgA4EAMuAD"
    "gQAy4AOBADLgA4EAMuADgQAy4AOBADPgA4EAM+ADgQAz4AOBADPgA4EAM+ADgQAz4AOBADPgA4EAM+ADgQAz4AOBADPg"
    "A4EANOADgQA04AOBADTgA4EANOADgQA04AOBADTgA4EANOADgQA04AOBADTgA4EANOADgQA14AOBADXgA4EANeADgQA1"
    "4AOBADXgA4EANeADgQA14AOBADXgA4EANeADgQA1IIE=";

std::string FewEvents() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "{\"Event\":" + std::to_string(i) + "}\n";
  return text;
}

std::string Decoded(absl::string_view base64) {
  std::string bytes;
  EXPECT_TRUE(absl::Base64Unescape(base64, &bytes));
  return bytes;
}

// Returns text as SnappyOutputStream of snappy-java writes it. FewEvents() is followed by a block
// with one literal.
std::string SnappyStream() {
  const std::string text = "{}\n";
  const std::string block = std::string(1, '\x03') + std::string(1, '\x08') + text;
  const std::string header = std::string("\x82SNAPPY\0", 8) + Big(1, 4) + Big(1, 4);
  const std::string packed = Decoded(kSnappyBlock);
  return header + Big(packed.size(), 4) + packed + header + Big(block.size(), 4) + block;
}

// Returns text as LZFOutputStream of compress-lzf writes it. FewEvents() is followed by an
// uncompressed chunk.
std::string LzfStream() {
  const std::string packed = Decoded(kLzfChunk);
  return std::string("ZV\x01", 3) + Big(packed.size(), 2) + Big(770, 2) + packed +
         std::string("ZV\0", 3) + Big(3, 2) + "{}\n";
}

struct Result {
  std::string text;
  absl::Status status;
  bool is_cut = false;
};

Result Unpack(std::string_view packed, std::size_t piece) {
  Unpacker unpacker;
  Result result;
  for (std::size_t at = 0; at < packed.size();) {
    std::string text;
    const auto taken = unpacker.Unpack(packed.substr(at, piece), text);
    result.text += text;
    if (!taken.ok()) {
      result.status = taken.status();
      break;
    }
    EXPECT_GT(*taken, 0u);
    at += *taken;
  }
  result.is_cut = unpacker.is_cut();
  return result;
}

TEST(Unpacker, RecognisesTheFormatByItsFirstBytesInPiecesOfAnySize) {
  for (const std::string& text : {Text().substr(0, 2000), Text()}) {
    for (const std::string& packed :
         {text, Zstd(text), Zstd(text.substr(0, 1000)) + Zstd(text.substr(1000)), Lz4Frame(text),
          Lz4Frame(text.substr(0, 7)) + Lz4Frame(text.substr(7)), Lz4Blocks(text),
          Lz4Blocks(text.substr(0, 99)) + Lz4Blocks(text.substr(99)), Gzip(text),
          Gzip(text.substr(0, 99)) + Gzip(text.substr(99)) + std::string(700, '\0')}) {
      const std::size_t smallest = text.size() > 2000 ? 1000 : 1;
      for (const std::size_t piece : {smallest, packed.size()}) {
        const Result result = Unpack(packed, piece);
        EXPECT_TRUE(result.status.ok()) << result.status;
        EXPECT_EQ(result.text, text);
        EXPECT_FALSE(result.is_cut);
      }
    }
  }
}

TEST(Unpacker, UnpacksTheOtherCodecsOfSpark) {
  for (const std::string& packed : {SnappyStream(), LzfStream()}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, packed.size()}) {
      const Result result = Unpack(packed, piece);
      EXPECT_TRUE(result.status.ok()) << result.status;
      EXPECT_EQ(result.text, FewEvents() + "{}\n");
      EXPECT_FALSE(result.is_cut);
    }
    EXPECT_TRUE(Unpack(packed.substr(0, packed.size() - 1), 100).is_cut);
  }
}

// Each byte is damaged in several ways. The unpacker must neither exceed the stated size nor read
// beyond the input.
TEST(Unpacker, RejectsDamagedBlocksOfOtherCodecs) {
  for (const std::string& packed : {SnappyStream(), LzfStream()}) {
    int damaged = 0;
    for (std::size_t at = 8; at < packed.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string other = packed;
        other[at] = static_cast<char>(other[at] ^ flip);
        const Result result = Unpack(other, other.size());
        EXPECT_LE(result.text.size(), 200'000u);
        damaged += absl::IsDataLoss(result.status) ? 1 : 0;
      }
    }
    EXPECT_GT(damaged, 100);
  }
}

TEST(Unpacker, ReturnsThePrefixOfATruncatedInput) {
  const std::string text = Text();
  for (const std::string& packed : {Zstd(text), Lz4Frame(text), Lz4Blocks(text), Gzip(text)}) {
    const Result result = Unpack(packed.substr(0, packed.size() / 2), 4096);
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_TRUE(result.is_cut);
    EXPECT_EQ(text.compare(0, result.text.size(), result.text), 0);
  }
}

// Returns a frame without its end, as if a driver had written blocks of these sizes and was then
// killed.
std::string FlushedZstd(std::string_view text, const std::vector<std::size_t>& blocks) {
  std::string packed(ZSTD_compressBound(text.size()) + 1000, '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_outBuffer to = {packed.data(), packed.size(), 0};
  for (const std::size_t block : blocks) {
    ZSTD_inBuffer from = {text.data(), block, 0};
    EXPECT_EQ(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush), 0u);
    text.remove_prefix(block);
  }
  ZSTD_freeCCtx(context);
  packed.resize(to.pos);
  return packed;
}

std::string FlushedLz4Frame(std::string_view text) {
  LZ4F_preferences_t preferences = {};
  preferences.frameInfo.blockSizeID = LZ4F_max1MB;
  std::string packed(LZ4F_compressBound(text.size(), &preferences) + 1000, '\0');
  LZ4F_cctx* context = nullptr;
  LZ4F_createCompressionContext(&context, LZ4F_VERSION);
  const auto rest = [&](std::size_t used) { return packed.size() - used; };
  std::size_t size = LZ4F_compressBegin(context, packed.data(), packed.size(), &preferences);
  size += LZ4F_compressUpdate(context, packed.data() + size, rest(size), text.data(), text.size(),
                              nullptr);
  size += LZ4F_flush(context, packed.data() + size, rest(size), nullptr);
  LZ4F_freeCompressionContext(context);
  packed.resize(size);
  return packed;
}

TEST(Unpacker, ReturnsEachWholeBlockOfATruncatedFrame) {
  const std::string text = Text().substr(0, 178'000);
  for (const std::string& packed : {FlushedZstd(text, {50'000, 128'000}), FlushedLz4Frame(text)}) {
    const Result result = Unpack(packed, packed.size());
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_TRUE(result.is_cut);
    EXPECT_EQ(result.text.size(), text.size());
    EXPECT_EQ(result.text, text);
  }
}

TEST(Unpacker, NamesTheDamageAndReturnsTheTextBeforeIt) {
  const std::string text = Text();
  std::string blocks = Lz4Blocks(text);
  blocks[blocks.size() / 2] ^= 0x40;
  const Result result = Unpack(blocks, 4096);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(result.status.message(), HasSubstr("damaged LZ4 block"));
  EXPECT_FALSE(result.text.empty());
  EXPECT_EQ(text.compare(0, result.text.size(), result.text), 0);
  EXPECT_EQ(Unpack("\x28\xb5\x2f\xfd no frame", 4096).status.code(), absl::StatusCode::kDataLoss);
}

// The last of several blocks is damaged. The blocks before it are returned even if all bytes arrive
// together.
TEST(Unpacker, ReturnsTheBlocksBeforeADamagedOne) {
  const std::string text = Text().substr(0, 178'000);
  const std::string zstd = FlushedZstd(text, {50'000, 64'000, 64'000});
  const std::size_t two = FlushedZstd(text, {50'000, 64'000}).size();
  std::string lz4 = FlushedLz4Frame(text.substr(0, 114'000));
  lz4 += std::string("\x10\0\0\0", 4) + std::string(16, '\xff');
  std::string gzip = Gzip(text);
  gzip[gzip.size() - 8] ^= 1;  // Changes the checksum.
  std::string damaged = zstd;
  damaged[two] = damaged[two + 1] = damaged[two + 2] = '\xff';  // Changes the header of the block.
  for (const auto& [packed, least] :
       {std::pair(damaged, std::size_t{114'000}), std::pair(lz4, std::size_t{114'000}),
        std::pair(gzip, text.size())}) {
    for (const std::size_t piece : {packed.size(), std::size_t{4096}}) {
      const Result result = Unpack(packed, piece);
      EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss);
      EXPECT_GE(result.text.size(), least) << piece;
      EXPECT_EQ(text.compare(0, std::min(result.text.size(), least), result.text, 0, least), 0);
    }
  }
}

TEST(Unpacker, NamesAnUnsupportedCompression) {
  const Result bzip2 = Unpack("BZh91AY rest", 4096);
  EXPECT_EQ(bzip2.status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(bzip2.status.message(), HasSubstr("compressed with bzip2"));
  EXPECT_THAT(Unpack(std::string("\xfd\x37zXZ\0 rest", 11), 1).status.message(), HasSubstr("xz"));
}

// If each block took one call, a tiny block would take as long as a large one.
TEST(Unpacker, UnpacksManyTinyBlocksInOneCall) {
  const std::string text = Text();
  const std::string packed = FlushedZstd(text, std::vector<std::size_t>(5000, 7));
  Unpacker unpacker;
  std::string unpacked;
  int calls = 0;
  for (std::string_view rest = packed; !rest.empty(); ++calls) {
    const auto taken = unpacker.Unpack(rest, unpacked).value();
    rest.remove_prefix(taken);
  }
  EXPECT_EQ(unpacked, text.substr(0, 35'000));
  EXPECT_LE(calls, 2) << "the first bytes, then the rest";
}

}  // namespace
}  // namespace tidemark::spark::unpacker_test
