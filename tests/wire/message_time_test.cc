#include "proto/wire/message_time.h"

#include "tests/test.h"

namespace tidemark::wire::message_time_test {
namespace {

google::protobuf::Duration Span(std::int64_t seconds, std::int32_t nanos) {
  google::protobuf::Duration message;
  message.set_seconds(seconds);
  message.set_nanos(nanos);
  return message;
}

google::protobuf::Timestamp Instant(std::int64_t seconds, std::int32_t nanos) {
  google::protobuf::Timestamp message;
  message.set_seconds(seconds);
  message.set_nanos(nanos);
  return message;
}

TEST(MessageTime, TimesSurviveTheTripToTheNanosecond) {
  for (const std::int64_t nanos :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{1'700'000'000'123'456'789},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    google::protobuf::Timestamp message;
    EncodeTime(absl::FromUnixNanos(nanos), message);
    EXPECT_EQ(ParseTime(message, "t").value(), absl::FromUnixNanos(nanos)) << nanos;
  }
}

TEST(MessageTime, DurationsSurviveTheTripToTheNanosecond) {
  for (const std::int64_t nanos : {0, 1, -1, 999'999'999, -1'000'000'001, 2'000'000'000}) {
    google::protobuf::Duration message;
    EncodeDuration(absl::Nanoseconds(nanos), message);
    EXPECT_EQ(ParseDuration(message, "d").value(), absl::Nanoseconds(nanos)) << nanos;
  }
}

TEST(MessageTime, ClampsValuesToTheRangeOfTheMessage) {
  for (const absl::Time time : {absl::InfinitePast(), absl::InfiniteFuture()}) {
    google::protobuf::Timestamp message;
    EncodeTime(time, message);
    EXPECT_TRUE(ParseTime(message, "t").ok());
  }
  for (const absl::Duration span : {absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    google::protobuf::Duration message;
    EncodeDuration(span, message);
    EXPECT_TRUE(ParseDuration(message, "d").ok());
  }
}

TEST(MessageTime, RejectsTimesOutsideTheMessagesRange) {
  for (const auto& message :
       {Instant(253'402'300'800, 0), Instant(-62'135'596'801, 0), Instant(0, -1),
        Instant(0, 1'000'000'000), Instant(std::numeric_limits<std::int64_t>::min(), 0)}) {
    EXPECT_FALSE(ParseTime(message, "t").ok()) << message.DebugString();
  }
}

TEST(MessageTime, RejectsDurationsOutsideTheMessagesRange) {
  for (const auto& message :
       {Span(315'576'000'001, 0), Span(-315'576'000'001, 0), Span(1, -1), Span(-1, 1),
        Span(0, 1'000'000'000), Span(0, std::numeric_limits<std::int32_t>::min())}) {
    EXPECT_FALSE(ParseDuration(message, "d").ok()) << message.DebugString();
  }
}

TEST(MessageTime, ElapsedTimeIsNotNegative) {
  EXPECT_EQ(ParseElapsed(Span(0, 0), "e").value(), absl::ZeroDuration());
  const absl::StatusOr<absl::Duration> negative = ParseElapsed(Span(-2, -5), "r-3: reduce_time");
  EXPECT_EQ(negative.status().message(), "r-3: reduce_time is -2 s and -5 ns; send zero or more");
}

}  // namespace
}  // namespace tidemark::wire::message_time_test
