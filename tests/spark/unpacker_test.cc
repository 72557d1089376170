#include "spark/unpacker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4frame.h>
#include <xxhash.h>
#include <zstd.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace tidemark::spark {
namespace {

using ::testing::HasSubstr;

std::string Text() {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "{\"Event\":" + std::to_string(i) + "}\n";
  return text;
}

std::string Zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
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

// As lz4-java's LZ4BlockOutputStream, which Spark uses, with blocks of 32 KiB, some of them stored.
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

TEST(Unpacker, KnowsWhatItIsGivenByItsFirstBytesInPiecesOfAnySize) {
  for (const std::string& text : {Text().substr(0, 2000), Text()}) {
    for (const std::string& packed :
         {text, Zstd(text), Zstd(text.substr(0, 1000)) + Zstd(text.substr(1000)), Lz4Frame(text),
          Lz4Frame(text.substr(0, 7)) + Lz4Frame(text.substr(7)), Lz4Blocks(text),
          Lz4Blocks(text.substr(0, 99)) + Lz4Blocks(text.substr(99))}) {
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

TEST(Unpacker, GivesThePrefixOfWhatWasCut) {
  const std::string text = Text();
  for (const std::string& packed : {Zstd(text), Lz4Frame(text), Lz4Blocks(text)}) {
    const Result result = Unpack(packed.substr(0, packed.size() / 2), 4096);
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_TRUE(result.is_cut);
    EXPECT_EQ(text.compare(0, result.text.size(), result.text), 0);
  }
}

// What a driver has flushed, in blocks of these sizes, before it was killed.
std::string FlushedZstd(std::string_view text, std::initializer_list<std::size_t> blocks) {
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

TEST(Unpacker, OfWhatWasCutGivesEachWholeBlock) {
  const std::string text = Text().substr(0, 178'000);
  for (const std::string& packed : {FlushedZstd(text, {50'000, 128'000}), FlushedLz4Frame(text)}) {
    const Result result = Unpack(packed, packed.size());
    EXPECT_TRUE(result.status.ok()) << result.status;
    EXPECT_TRUE(result.is_cut);
    EXPECT_EQ(result.text.size(), text.size());
    EXPECT_EQ(result.text, text);
  }
}

TEST(Unpacker, SaysWhatIsDamagedAndGivesWhatIsBeforeIt) {
  const std::string text = Text();
  std::string blocks = Lz4Blocks(text);
  blocks[blocks.size() / 2] ^= 0x40;
  const Result result = Unpack(blocks, 4096);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(result.status.message()), HasSubstr("damaged LZ4 block"));
  EXPECT_FALSE(result.text.empty());
  EXPECT_EQ(text.compare(0, result.text.size(), result.text), 0);
  EXPECT_EQ(Unpack("\x28\xb5\x2f\xfd no frame", 4096).status.code(), absl::StatusCode::kDataLoss);
}

TEST(Unpacker, NamesACompressionThatItDoesNotRead) {
  const Result snappy = Unpack("\x82SNAPPY rest", 4096);
  EXPECT_EQ(snappy.status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(snappy.status.message()), HasSubstr("compressed with snappy"));
  EXPECT_THAT(std::string(Unpack("ZV\x01 rest", 1).status.message()), HasSubstr("lzf"));
}

}  // namespace
}  // namespace tidemark::spark
