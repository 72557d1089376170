#include "spark/event_scanner.h"

#include "tests/test.h"

namespace tidemark::spark::event_scanner_test {
namespace {

class EventScannerTest : public ::testing::Test {
 protected:
  void Feed(std::string_view text) {
    scanner_.Feed(text, [&](std::string_view event) { events_.emplace_back(event); });
  }
  EventScanner scanner_;
  std::vector<std::string> events_;
};

TEST_F(EventScannerTest, KeepsTheUsedMembersOfAnEvent) {
  Feed(R"({"Event":"E", "Stage Infos" : [ {"Stage ID": 7,"Details":[{"Stage ID":[1,{}]}]},{"x":1}],
       "Classpath Entries":{"/a":"}"},"Job ID":-3.5e1,"Properties":null,"Accumulables":[]})");
  EXPECT_THAT(events_, ElementsAre(R"({"Event":"E","Stage Infos":[{"Stage ID":7},{}],)"
                                   R"("Job ID":-3.5e1,"Properties":null})"));
}

TEST_F(EventScannerTest, ANumberThatJsonDoesNotAllowBecomesNull) {
  Feed(R"({"JVM GC Time":NaN,"Index":[-Infinity, 1e999,007,Infinity ],"Bytes Read":"NaN",)"
       R"("x":NaN,"Job ID":0,"Failed":true,"Attempt":-1.5E-3,"User":null})");
  EXPECT_THAT(events_,
              ElementsAre(R"({"JVM GC Time":null,"Index":[null,null,null,null],"Bytes Read":"NaN",)"
                          R"("Job ID":0,"Failed":true,"Attempt":-1.5E-3,"User":null})"));
}

TEST(EventScanner, KeepsAllPropertiesOfSparkForSettings) {
  const std::string text =
      R"({"Spark Properties":{"spark.some.long.setting":"1","x":"2"},"x":3,"Job ID":4})";
  for (const bool keeps : {false, true}) {
    EventScanner scanner(keeps ? EventScanner::ForSettings() : EventScanner::ForProgress());
    std::vector<std::string> events;
    scanner.Feed(text, [&](std::string_view event) { events.emplace_back(event); });
    EXPECT_THAT(
        events,
        ElementsAre(keeps ? R"({"Spark Properties":{"spark.some.long.setting":"1","x":"2"},)"
                            R"("Job ID":4})"
                          : R"({"Spark Properties":{},"Job ID":4})"));
  }
}

TEST_F(EventScannerTest, NeedsNoLines) {
  Feed(R"({"Job ID":1}{"Job ID":2},{"Job ID":3}])");
  EXPECT_THAT(events_, ElementsAre(R"({"Job ID":1})", R"({"Job ID":2})", R"({"Job ID":3})"));
  EXPECT_EQ(scanner_.broken_events(), 0u);
}

TEST_F(EventScannerTest, GivesTheSameEventsForPiecesOfAnySize) {
  const std::string text =
      "{\"Event\":\"a\\\"}\\u00e9\\\\\",\"no\":\"\\\"\",\"Job ID\":12}\r\n{\"User\":\"x\"}\n";
  Feed(text);
  const std::vector<std::string> whole = events_;
  ASSERT_EQ(whole.size(), 2u);
  events_.clear();
  for (const char c : text) Feed({&c, 1});
  EXPECT_EQ(events_, whole);
}

TEST_F(EventScannerTest, ABrokenEventEndsWithItsFile) {
  for (const char* cut : {R"({"Job ID":1,"User":"ab)", R"({"Job ID":1,"Us)", R"({"Job ID":)",
                          R"({"Job ID":1)", R"({"Properties":{"User":"\)", R"({"no":[{)", "{"}) {
    Feed(cut);
    EXPECT_TRUE(scanner_.is_inside());
    scanner_.EndFile();
    Feed("{\"Job ID\":2}\n");
    EXPECT_FALSE(scanner_.is_inside());
  }
  EXPECT_EQ(events_, std::vector<std::string>(7, R"({"Job ID":2})"));
  EXPECT_EQ(scanner_.broken_events(), 7u);
  scanner_.EndFile();
  EXPECT_EQ(scanner_.broken_events(), 7u) << "it ended with an event";
}

TEST_F(EventScannerTest, ABrokenEventEndsWithItsLine) {
  Feed("{\"Job ID\":1,\"User\":\"ab\n{\"Job ID\":2}\n{\"Job ID\":3}}\n{\"Job ID\":4}\n");
  EXPECT_THAT(events_, ElementsAre(R"({"Job ID":2})", R"({"Job ID":3})", R"({"Job ID":4})"));
  EXPECT_EQ(scanner_.broken_events(), 2u);
  EXPECT_FALSE(scanner_.is_inside());
  Feed("no JSON at all {\"Job ID\":5}\n{\"Job ID\":[}\n{\"Job ID\":6}\n{\"Job");
  EXPECT_EQ(events_.back(), R"({"Job ID":6})");
  EXPECT_EQ(events_.size(), 4u);
  EXPECT_TRUE(scanner_.is_inside());
}

TEST_F(EventScannerTest, CutsLongStringsOutsideOfEscapes) {
  for (std::size_t more = 0; more < 12; ++more) {
    events_.clear();
    const std::string head(EventScanner::kStringMax - 6 + more, 'x');
    Feed("{\"User\":\"" + head + "\\u00e9\\\\\\\"\",\"Job ID\":1}");
    ASSERT_EQ(events_.size(), 1u);
    EXPECT_THAT(events_[0], ::testing::EndsWith("\",\"Job ID\":1}")) << more;
    EXPECT_LE(events_[0].size(), EventScanner::kStringMax + 40);
    const bool keeps_escape = more == 0;
    EXPECT_EQ(events_[0].find("\\u00e9\"") != std::string::npos, keeps_escape) << more;
  }
}

TEST_F(EventScannerTest, KeepsTheFirstWordsOfAnOperator) {
  const std::string columns(10'000, 'c');
  Feed(R"({"nodeName":"Exchange","simpleString":"Exchange SinglePartition, )" + columns +
       R"(","children":[]})");
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_THAT(events_[0], ::testing::HasSubstr("Exchange SinglePartition"));
  EXPECT_LT(events_[0].size(), 200u);
}

TEST_F(EventScannerTest, AnEventOfAnySizeNeedsLittleMemory) {
  Feed("{\"Job ID\":1,\"physicalPlanDescription\":\"");
  const std::string piece(1 << 20, 'p');
  for (int i = 0; i < 100; ++i) Feed(piece);
  Feed("\",\"Accumulables\":[");
  for (int i = 0; i < 100'000; ++i) Feed("{\"Stage ID\":[[[");
  for (int i = 0; i < 100'000; ++i) Feed("]]]},");
  Feed("]}");
  EXPECT_THAT(events_, ElementsAre(R"({"Job ID":1})"));
}

TEST_F(EventScannerTest, DropsAnOversizedEventAndContinues) {
  Feed("{\"Stage Infos\":[");
  for (std::size_t i = 0; i < EventScanner::kEventMax / 10; ++i) Feed("{\"Stage ID\":1},");
  Feed("]}{\"Job ID\":2}");
  EXPECT_THAT(events_, ElementsAre(R"({"Job ID":2})"));
  EXPECT_EQ(scanner_.oversized_events(), 1u);
}

TEST_F(EventScannerTest, DropsAnEventWithTooManyValuesAndContinues) {
  const auto feed = [&](std::size_t values) {
    Feed("{\"Parent IDs\":[");  // The event and this list count as two values.
    for (std::size_t i = 2; i < values; ++i) Feed("7,");
    Feed("]}\n");
  };
  feed(EventScanner::kValuesMax);
  EXPECT_EQ(events_.size(), 1u);
  feed(EventScanner::kValuesMax + 1);
  EXPECT_EQ(scanner_.oversized_events(), 1u);
  Feed("{\"Parent IDs\":[1,\"2\",{}],\"Job ID\":2}");
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[1], R"({"Parent IDs":[1,"2",{}],"Job ID":2})");
}

TEST_F(EventScannerTest, AValueThatIsNestedTooDeepBecomesNull) {
  std::string text = "{\"children\":";
  for (int i = 0; i < 2000; ++i) text += "[";
  for (int i = 0; i < 2000; ++i) text += "]";
  Feed(text + ",\"Job ID\":1}");
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_THAT(events_[0], ::testing::HasSubstr("[null]"));
  EXPECT_THAT(events_[0], ::testing::EndsWith(",\"Job ID\":1}"));
  EXPECT_THAT(scanner_.broken_events(), 0u);
}

}  // namespace
}  // namespace tidemark::spark::event_scanner_test
