#include <zlib.h>

#include "tests/test.h"
#include "web/http_server.h"

namespace tidemark::web::gzip_test {
namespace {

// Returns the text that can be decompressed from the bytes so far.
std::string Inflated(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1'000'000, '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_SYNC_FLUSH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(GzipStream, MakesFlushedTextReadableAtOnce) {
  const auto stream = GzipStream::Start();
  ASSERT_NE(stream, nullptr);
  std::string bytes = stream->Add("data: first\n\n");
  EXPECT_EQ(Inflated(bytes), "data: first\n\n");
  bytes += stream->Add("");
  bytes += stream->Add("data: second\n\n");
  EXPECT_EQ(Inflated(bytes), "data: first\n\ndata: second\n\n");
  bytes += stream->End();
  EXPECT_EQ(Inflated(bytes), "data: first\n\ndata: second\n\n");
}

TEST(GzipStream, CompletesUnflushedBlocksAtTheNextFlush) {
  const auto stream = GzipStream::Start();
  std::string text;
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    const std::string block = std::to_string(i) + std::string(1000, 'x');
    text += block;
    bytes += stream->Add(block, /*flush=*/i == 49);
  }
  EXPECT_EQ(Inflated(bytes), text);
}

TEST(GzipStream, CompressesRepetitiveText) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += R"({"id":{"stage":)" + std::to_string(i) + R"(},"state":"starts in 2 min"},)";
  }
  const auto stream = GzipStream::Start();
  const std::string bytes = stream->Add(text);
  EXPECT_EQ(Inflated(bytes), text);
  EXPECT_LT(bytes.size(), text.size() / 5);
}

TEST(GzipStream, GunzipReturnsTheWholeTextOrNothing) {
  const std::string text(100'000, 'x');
  const auto stream = GzipStream::Start();
  const std::string start = stream->Add(text);
  EXPECT_EQ(Gunzip(start), std::nullopt) << "the file is cut off";
  EXPECT_EQ(Gunzip(start + stream->End()), text);
  EXPECT_EQ(Gunzip("no gzip"), std::nullopt);
}

struct Case {
  const char* name;
  const char* header;
  bool accepts_gzip;
};

class AcceptEncoding : public testing::TestWithParam<Case> {};

TEST_P(AcceptEncoding, AllowsGzipOnlyIfTheHeaderNamesItWithAWeight) {
  EXPECT_EQ(AcceptsGzip(GetParam().header), GetParam().accepts_gzip) << GetParam().header;
}

INSTANTIATE_TEST_SUITE_P(
    Headers, AcceptEncoding,
    testing::Values(Case{"None", "", false}, Case{"Gzip", "gzip", true},
                    Case{"Browser", "gzip, deflate, br, zstd", true},
                    Case{"Identity", "identity", false}, Case{"Others", "deflate, br", false},
                    Case{"AnotherWord", "gzipped, notgzip, x-gzip2", false},
                    Case{"Refused", "gzip;q=0", false},
                    Case{"RefusedInLongForm", "br;q=1.0, GZIP ; Q = 0.000", false},
                    Case{"LowWeight", "identity;q=1, gzip;q=0.001", true},
                    Case{"OtherRefused", "br;q=0, gzip;q=1", true}, Case{"Any", "*", false},
                    Case{"AnyButGzip", "gzip;q=0, *;q=1", false},
                    Case{"EmptyParts", ",, gzip ,", true}, Case{"NoCoding", ";q=1", false}),
    [](const testing::TestParamInfo<Case>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tidemark::web::gzip_test
