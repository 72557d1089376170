#include "serve/library_log.h"

#include <gmock/gmock.h>
#include <grpc/support/log.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tidemark/v1/job.pb.h"

namespace tidemark::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(RareEntries, LetOneASecondThroughAndCountTheOthers) {
  RareEntries rare;
  EXPECT_TRUE(rare.Next("gRPC", "first", kNow).has_value());
  for (int i = 1; i <= 7; ++i) {
    EXPECT_FALSE(rare.Next("gRPC", "next", kNow + absl::Milliseconds(100 * i)).has_value());
  }
  const auto entry = rare.Next("protobuf", "later", kNow + absl::Seconds(1));
  ASSERT_TRUE(entry.has_value());
  EXPECT_THAT(entry->fields,
              AllOf(Contains(Pair("library", "protobuf")), Contains(Pair("text", "later")),
                    Contains(Pair("left_out", "7"))));
}

TEST(RareEntries, GoOnWhenTheClockIsSetBack) {
  RareEntries rare;
  EXPECT_TRUE(rare.Next("gRPC", "first", kNow).has_value());
  EXPECT_TRUE(rare.Next("gRPC", "next", kNow - absl::Hours(1)).has_value());
}

// What a stranger's bytes make protobuf say: a job id that is no UTF-8.
void MakeProtobufComplain() {
  v1::Snapshot snapshot;
  EXPECT_FALSE(snapshot.ParseFromString("\x0a\x01\xff"));
}

TEST(LibraryLog, LibrariesAreSilentUnlessAsked) {
  SilenceLibraries();
  testing::internal::CaptureStderr();
  gpr_log(GPR_ERROR, "a stranger said something");
  MakeProtobufComplain();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(LibraryLog, WhatLibrariesSayBecomesEntriesOfTheLog) {
  std::vector<LogEntry> entries;
  LogLibraries([&](const LogEntry& entry) { entries.push_back(entry); });
  testing::internal::CaptureStderr();
  MakeProtobufComplain();
  gpr_log(GPR_ERROR, "gRPC said something");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  LogLibraries({});
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(entries[0].severity, LogSeverity::kWarning);
  EXPECT_THAT(entries[0].fields, Contains(Pair("text", HasSubstr("UTF-8"))));
}

}  // namespace
}  // namespace tidemark::cli
