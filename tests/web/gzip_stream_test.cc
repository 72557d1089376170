#include "web/gzip_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace tidemark::web {
namespace {

// What a reader has of it so far.
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

TEST(GzipStream, WhatWasAddedCanBeReadAtOnce) {
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

TEST(GzipStream, BlocksThatAreNotFlushedFollowWithTheNextThatIs) {
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

TEST(GzipStream, WhatRepeatsItselfBecomesSmall) {
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
  const std::string begun = stream->Add(text);
  EXPECT_EQ(Gunzip(begun), std::nullopt) << "the file is cut off";
  EXPECT_EQ(Gunzip(begun + stream->End()), text);
  EXPECT_EQ(Gunzip("no gzip"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::web
