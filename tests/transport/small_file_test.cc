#include "transport/small_file.h"

#include <sys/stat.h>

#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "transport/channel.h"
#include "transport/listen_address.h"

namespace tidemark::transport::small_file_test {
namespace {

using test::ScratchDirectory;

TEST(SmallFile, ReturnsTheContents) {
  const ScratchDirectory directory;
  EXPECT_EQ(*ReadSmallFile(directory.Write("a", "contents\n")), "contents\n");
}

TEST(SmallFile, LeavesOutAByteOrderMark) {
  const ScratchDirectory directory;
  EXPECT_EQ(*ReadSmallFile(directory.Write("a", "\xEF\xBB\xBFtoken\n")), "token\n");
  EXPECT_EQ(*ReadSmallFile(directory.Write("b", "a\xEF\xBB\xBF")), "a\xEF\xBB\xBF");
  EXPECT_THAT(std::string(ReadSmallFile(directory.Write("c", "\xEF\xBB\xBF")).status().message()),
              HasSubstr("The file is empty"));
}

TEST(SmallFile, NeverBlocks) {
  const ScratchDirectory directory;
  const std::string pipe = directory / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(std::string(ReadSmallFile(pipe).status().message()), HasSubstr("Not a regular file"));
  EXPECT_FALSE(ReadSmallFile(directory / "").ok());
}

TEST(SmallFile, NamesTheFault) {
  const ScratchDirectory directory;
  EXPECT_TRUE(absl::IsNotFound(ReadSmallFile(directory / "absent").status()));
  EXPECT_FALSE(ReadSmallFile(directory.Write("empty", "")).ok());
  EXPECT_FALSE(
      ReadSmallFile(directory.Write("large", std::string(kSmallFileBytesMax + 1, 'x'))).ok());
}

TEST(SmallFile, VersionChangesWithTheFile) {
  const ScratchDirectory directory;
  const std::string path = directory.Write("a", "1");
  const std::size_t version = FileVersion(path);
  EXPECT_EQ(FileVersion(path), version);
  directory.Write("a", "2");
  EXPECT_NE(FileVersion(path), version);
  EXPECT_EQ(FileVersion(directory / "absent"), 0U);
}

TEST(ParseToken, ReadsTheOneLineThatIsNotAComment) {
  EXPECT_EQ(*ParseToken("# of the cluster\n\nsecret-word \r\n", "t"), "secret-word");
}

TEST(ParseToken, RejectsCharactersOfHeadersWithoutQuotingThem) {
  for (const char* text : {"", "# only a comment\n", "one\ntwo\n", "two words\n", "bell\a\n"}) {
    const auto token = ParseToken(text, "token-file");
    EXPECT_TRUE(absl::IsInvalidArgument(token.status())) << text;
    EXPECT_THAT(std::string(token.status().message()), HasSubstr("token-file "));
    EXPECT_THAT(std::string(token.status().message()), ::testing::Not(HasSubstr("two")));
  }
}

TEST(LocalAddress, IsOfThisHostOnly) {
  for (const char* address : {"unix:/run/t", "localhost:1", "127.0.0.1:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLocalAddress(address)) << address;
  }
  for (const char* address : {"10.0.0.7:1", "127.evil.example:1", "localhost.example:1", ""}) {
    EXPECT_FALSE(IsLocalAddress(address)) << address;
  }
}

}  // namespace
}  // namespace tidemark::transport::small_file_test
