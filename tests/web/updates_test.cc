#include <google/protobuf/util/json_util.h>

#include <tuple>

#include "proto/wire/job_codec.h"
#include "tests/test.h"
#include "tidemark/web/v1/web.pb.h"
#include "web/api.h"

namespace tidemark::web::updates_test {
namespace {

using tidemark::v1::WatchJobResponse;

std::string TokenOf(std::uint64_t sequence) { return "1-" + std::to_string(sequence); }

WatchJobResponse Whole(std::uint64_t sequence, const std::string& name = "job") {
  Snapshot snapshot;
  snapshot.job_id = "job-1";
  snapshot.sequence = sequence;
  snapshot.at = absl::FromUnixSeconds(1'700'000'000);
  snapshot.state = JobState::kRunning;
  snapshot.info = JobInfo{.name = name};
  WatchJobResponse response;
  wire::EncodeSnapshot(snapshot, *response.mutable_snapshot());
  response.set_resume_token(TokenOf(sequence));
  return response;
}

class SharedUpdatesTest : public testing::Test {
 protected:
  v1::JobWords Words(const Snapshot& snapshot) {
    ++made_;
    v1::JobWords words;
    words.set_title(snapshot.info->name);
    words.add_stages()->set_state("unchanged");
    return words;
  }
  // Returns the update for a client of job-1 that has `before`.
  std::optional<SharedUpdates::Update> Take(const WatchJobResponse& response,
                                            const std::string& before = "",
                                            tidemark::v1::View view = tidemark::v1::VIEW_FULL) {
    return updates_.Get(response.SerializeAsString(), "job-1", view, before);
  }
  int made_ = 0;
  SharedUpdates updates_{[this](const Snapshot& snapshot) { return Words(snapshot); }};
};

// Returns the number of stages that have words in an update.
int StagesWithWords(const std::optional<SharedUpdates::Update>& update) {
  const std::string json = update ? update->json() : "";
  int count = 0;
  for (std::size_t at = 0; (at = json.find("unchanged", at)) != std::string::npos; ++at) ++count;
  return count;
}

WatchJobResponse DeltaTo(std::uint64_t sequence) {
  WatchJobResponse delta = Whole(sequence);
  delta.mutable_snapshot()->set_base_sequence(sequence - 1);
  delta.mutable_snapshot()->clear_info();
  return delta;
}

TEST_F(SharedUpdatesTest, AreEncodedOnceForAllReaders) {
  const auto one = Take(Whole(1));
  const auto other = Take(Whole(1));
  EXPECT_EQ(one->rest, other->rest);
  EXPECT_EQ(one->resume_token, TokenOf(1));
  EXPECT_EQ(made_, 1);
  Take(Whole(1), "", tidemark::v1::VIEW_BASIC);
  EXPECT_EQ(made_, 2) << "another view is another update";
}

TEST_F(SharedUpdatesTest, ReadersThatMissedDifferentNumbersOfSnapshotsShareTheRest) {
  WatchJobResponse response = Whole(5);
  const auto current = Take(response);
  response.set_skipped_snapshots(3);
  const auto slow = Take(response);
  response.set_restarted(true);
  const auto restarted = Take(response);
  EXPECT_EQ(slow->rest, current->rest);
  EXPECT_EQ(restarted->rest, current->rest);
  EXPECT_EQ(made_, 1);
  for (const auto& [update, skipped, is_restarted] :
       {std::tuple(current, 0, false), {slow, 3, false}, {restarted, 3, true}}) {
    v1::JobUpdate message;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(update->json(), &message).ok())
        << update->json();
    EXPECT_EQ(message.update().skipped_snapshots(), static_cast<std::uint64_t>(skipped));
    EXPECT_EQ(message.update().restarted(), is_restarted);
    EXPECT_EQ(message.update().snapshot().sequence(), 5u);
    EXPECT_EQ(message.words().title(), "job");
  }
}

TEST_F(SharedUpdatesTest, OmitWordsThatTheReaderHas) {
  EXPECT_EQ(StagesWithWords(Take(Whole(1))), 1);
  const auto second = Take(DeltaTo(2), TokenOf(1));
  EXPECT_NE(second->json().find("\"title\":\"job\""), std::string::npos) << second->json();
  EXPECT_EQ(StagesWithWords(second), 0) << "sent before";
  EXPECT_EQ(StagesWithWords(Take(Whole(3), TokenOf(2))), 1);
}

TEST_F(SharedUpdatesTest, ContainAllWordsOfAWholeSnapshot) {
  Take(Whole(1));
  // A client without deltas receives whole snapshots. A page that opens at the same time receives
  // the same snapshots.
  EXPECT_EQ(StagesWithWords(Take(Whole(2), TokenOf(1))), 1);
  EXPECT_EQ(StagesWithWords(Take(Whole(2))), 1);
  EXPECT_EQ(StagesWithWords(Take(DeltaTo(3), TokenOf(2))), 0);
}

TEST_F(SharedUpdatesTest, ReadersThatJoinLaterShareTheDeltas) {
  Take(Whole(1));
  Take(DeltaTo(2), TokenOf(1));
  Take(Whole(2));
  const int made = made_;
  EXPECT_EQ(Take(DeltaTo(3), TokenOf(2))->rest, Take(DeltaTo(3), TokenOf(2))->rest);
  EXPECT_EQ(made_, made + 1);
}

TEST_F(SharedUpdatesTest, RequireTheBaseOfADelta) {
  EXPECT_FALSE(Take(DeltaTo(2)));
  Take(Whole(1));
  EXPECT_FALSE(Take(DeltaTo(2), TokenOf(7)));
  const auto update = Take(DeltaTo(2), TokenOf(1));
  ASSERT_TRUE(update);
  EXPECT_NE(update->json().find("\"title\":\"job\""), std::string::npos) << update->json();
}

TEST_F(SharedUpdatesTest, AreDroppedForAReaderThatLags) {
  for (int i = 1; i <= 10; ++i) Take(i == 1 ? Whole(i) : DeltaTo(i), TokenOf(i - 1));
  WatchJobResponse late = Whole(11);
  late.mutable_snapshot()->set_base_sequence(2);
  EXPECT_FALSE(Take(late, TokenOf(2)));
  EXPECT_TRUE(Take(Whole(11), TokenOf(2)));
}

TEST_F(SharedUpdatesTest, RejectAnInvalidResponse) {
  EXPECT_FALSE(updates_.Get("\x0a\xff", "job-1", tidemark::v1::VIEW_FULL, ""));
}

TEST(SharedUpdates, KeepTheNewestDespiteItsSize) {
  int made = 0;
  SharedUpdates updates([&](const Snapshot&) { return ++made, v1::JobWords(); },
                        /*bytes_max=*/1000);
  const std::string response = Whole(1, std::string(5000, 'x')).SerializeAsString();
  for (int reader = 0; reader < 30; ++reader) {
    EXPECT_TRUE(updates.Get(response, "job-1", tidemark::v1::VIEW_FULL, ""));
  }
  EXPECT_EQ(made, 1);
}

TEST(SharedUpdates, StayWithinTheirMemory) {
  int made = 0;
  SharedUpdates updates([&](const Snapshot&) { return ++made, v1::JobWords(); },
                        /*bytes_max=*/8000);
  const auto take = [&](int i) {
    updates.Get(Whole(1, std::string(300, 'x')).SerializeAsString(), "job-" + std::to_string(i),
                tidemark::v1::VIEW_FULL, "");
  };
  for (int i = 0; i < 100; ++i) take(i);
  EXPECT_EQ(made, 100);
  take(99);
  EXPECT_EQ(made, 100);
  take(0);
  EXPECT_EQ(made, 101) << "the oldest was dropped";
}

v1::JobWords Two(const std::string& second) {
  v1::JobWords words;
  for (const std::string& state : {std::string("done"), second}) {
    v1::StageWords& stage = *words.add_stages();
    stage.mutable_id()->set_stage(static_cast<unsigned>(words.stages_size()));
    stage.set_state(state);
  }
  words.add_children()->set_state(second);
  return words;
}

TEST(WordChanges, RemovesKnownWords) {
  WordChanges changes;
  v1::JobWords words = Two("running");
  changes.RemoveKnown(words);
  EXPECT_EQ(words.stages_size(), 2);
  EXPECT_EQ(words.children_size(), 1);
  words = Two("running");
  changes.RemoveKnown(words);
  EXPECT_EQ(words.stages_size(), 0);
  EXPECT_EQ(words.children_size(), 0);
  words = Two("done");
  changes.RemoveKnown(words);
  ASSERT_EQ(words.stages_size(), 1);
  EXPECT_EQ(words.stages(0).id().stage(), 2);
}

TEST(WordChanges, RepeatsWordsOfAStageThatReturned) {
  WordChanges changes;
  v1::JobWords words = Two("running");
  changes.RemoveKnown(words);
  words = Two("running");
  words.mutable_stages()->RemoveLast();
  changes.RemoveKnown(words);
  words = Two("running");
  changes.RemoveKnown(words);
  ASSERT_EQ(words.stages_size(), 1);
  EXPECT_EQ(words.stages(0).id().stage(), 2);
}

}  // namespace
}  // namespace tidemark::web::updates_test
