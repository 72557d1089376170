// Tests that the C++ parser reads the bytes of an agent that has no generated code.
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <variant>

#include "proto/wire/encode_event.h"
#include "proto/wire/parse_event.h"
#include "tests/test.h"
#include "tests/vectors/vectors.h"
#include "tests/wire/encode_request.h"
#include "tests/wire/some_events.h"
#include "tidemark/storage/v1/received.pb.h"
#include "tidemark/v1/event.pb.h"
#include "tidemark/v1/ingest_service.pb.h"

namespace tidemark::wire::event_vectors_test {
namespace {

TEST(EventVectors, AgreesWithTheSharedVectors) {
  const auto golden = vectors::Read("events.json");
  ASSERT_GE(golden.size(), 10u);
  for (const auto& vector : golden) {
    SCOPED_TRACE(vector["name"]);
    v1::Event expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(vector["text"], &expected));
    v1::Event read;
    ASSERT_TRUE(read.ParseFromString(vectors::FromHex(vector["hex"])));
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read, expected))
        << read.ShortDebugString();

    const auto body = ParseBody(read).value();
    EXPECT_FALSE(std::holds_alternative<UnknownEvent>(body));
  }
}

// The master reads the events of a batch as bytes.
TEST(ReceivedRequest, HasTheBytesOfAStreamEventsRequest) {
  v1::StreamEventsRequest sent;
  Event event = WithBody(SomeHeartbeat());
  EncodeRequest(event, sent, 7);
  EncodeBody(SomeReduceProfile(), *sent.add_events());
  storage::v1::ReceivedRequest read;
  ASSERT_TRUE(read.ParseFromString(sent.SerializeAsString()));
  EXPECT_TRUE(read.GetReflection()->GetUnknownFields(read).empty());
  EXPECT_EQ(read.sent_by_0_1(), "");
  EXPECT_EQ(read.sources(0).source_id(), event.source_id);
  EXPECT_EQ(read.handle(), 7u);
  EXPECT_EQ(read.first_sequence(), event.sequence);
  EXPECT_EQ(absl::FromUnixNanos(read.sent_at()), event.sent_at);
  EXPECT_EQ(read.dropped_events(), event.dropped_events);
  ASSERT_EQ(read.events_size(), 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read.events(i), sent.events(i).SerializeAsString());
}

}  // namespace
}  // namespace tidemark::wire::event_vectors_test
