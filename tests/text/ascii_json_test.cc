#include "text/ascii_json.h"

#include <nlohmann/json.hpp>

#include "tests/test.h"

namespace tidemark::text::ascii_json_test {
namespace {

TEST(AsciiJson, EscapesAllCharactersBeyondAscii) {
  EXPECT_EQ(AsciiJson("{\"a\":\"x\xe2\x81\xa6y\xe2\x80\xae\",\"\xd8\x9c\":1}"),
            R"({"a":"x\u2066y\u202e","\u061c":1})");
  EXPECT_EQ(AsciiJson("\"\xf0\x9f\x8c\x8a\xc3\xa9\""), R"("\ud83c\udf0a\u00e9")");
}

TEST(AsciiJson, KeepsTheValue) {
  for (const char* json : {"[]", R"({"a":"\u2066\\","b":[1.50]})", "\"\xe5\xb7\xa5 1\""}) {
    const std::string ascii = AsciiJson(json);
    EXPECT_EQ(nlohmann::json::parse(ascii, nullptr, false),
              nlohmann::json::parse(json, nullptr, false));
  }
  EXPECT_EQ(AsciiJson(""), "");
  EXPECT_EQ(AsciiJson(R"({"a":"\u2066\\","b":[1.50]})"), R"({"a":"\u2066\\","b":[1.50]})");
}

TEST(AsciiJson, ReplacesInvalidBytes) {
  EXPECT_EQ(AsciiJson("\"a\xff"
                      "b\""),
            R"("a\ufffdb")");
}

}  // namespace
}  // namespace tidemark::text::ascii_json_test
