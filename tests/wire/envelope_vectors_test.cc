// The bytes that an agent without generated code writes, read by ours.
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "proto/wire/parse_event.h"
#include "tests/vectors/vectors.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire {
namespace {

TEST(Envelope, AgreesWithTheSharedVectors) {
  const auto golden = vectors::Read("envelopes.json");
  ASSERT_GE(golden.size(), 10u);
  for (const auto& vector : golden) {
    SCOPED_TRACE(vector["name"]);
    v1::Envelope expected;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(vector["text"], &expected));
    v1::Envelope read;
    ASSERT_TRUE(read.ParseFromString(vectors::FromHex(vector["hex"])));
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read, expected))
        << read.ShortDebugString();

    read.set_source_id("source");
    read.set_job_id("job");
    read.set_sequence(1);
    read.mutable_sent_at()->set_seconds(1'700'000'000);
    const auto event = ParseEvent(read, absl::Now());
    EXPECT_TRUE(event.ok()) << event.status();
  }
}

}  // namespace
}  // namespace tidemark::wire
