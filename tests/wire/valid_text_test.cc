#include "proto/wire/valid_text.h"

#include <google/protobuf/timestamp.pb.h>

#include "proto/wire/encode_event.h"
#include "tests/test.h"
#include "tests/wire/some_events.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire::valid_text_test {
namespace {

TEST(ValidText, KeepsCharactersOfEveryLength) {
  for (const char* text : {"", "plain", "h\u00E9", "\u20AC 5", "\U0001F30A tide", "\u07FF\uFFFD"}) {
    EXPECT_EQ(ValidText(text), text);
  }
  EXPECT_EQ(ValidText(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(ValidText, ReplacesInvalidBytes) {
  EXPECT_EQ(ValidText("a\xFF"
                      "b"),
            "a?b");
  EXPECT_EQ(ValidText("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(ValidText("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(ValidText("\xF4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(ValidText("end \xE2\x82"), "end ??");    // cut short
}

TEST(HasControls, FindsThoseOfOneAndOfTwoBytes) {
  for (const char* text : {"a\nb", "\x1b[2J", "\x7f", "a\u0080", "\u009b31m", "\u009f"}) {
    EXPECT_TRUE(HasControls(text)) << text;
  }
  for (const char* text : {"", "a b", "\u00A0", "h\u00E9", "\u4E9B\u0420"}) {
    EXPECT_FALSE(HasControls(text)) << text;
  }
}

TEST(ValidText, MakesAnyEventEncodable) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000; ++i) {
    JobClosed closed;
    for (int j = 0; j < 20; ++j) closed.message += static_cast<char>(random() % 256);
    v1::Event received;
    ASSERT_TRUE(received.ParseFromString(EncodeEvent(WithBody(closed)).body)) << i;
  }
}

}  // namespace
}  // namespace tidemark::wire::valid_text_test
