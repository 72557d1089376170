#include "master/service/connection_table.h"

#include "tests/test.h"

namespace tidemark::service::connection_table_test {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

absl::Time At(double seconds) { return kStart + absl::Seconds(seconds); }

ConnectionLimits SmallLimits() {
  return {.connections_max = 100,
          .connections_per_host_max = 50,
          .waiting_max = 40,
          .unauthenticated_max = 4,
          .unauthenticated_per_host_min = 2,
          .unauthenticated_per_host_max = 3,
          .bytes_per_host_max = 1000,
          .calls_max = 5,
          .bytes_per_unseen_call = 100,
          .time_max = absl::Seconds(10),
          .time_max_if_awaited = absl::Seconds(1),
          .penalty = absl::Seconds(2)};
}

class ConnectionTableTest : public ::testing::Test {
 protected:
  // Returns no id if the connection was rejected.
  ConnectionId Arrive(const std::string& host, double at = 0) {
    const ConnectionId id{++arrived_};
    return table_.Arrive(id, host, At(at)) ? id : ConnectionId{0};
  }
  std::vector<ConnectionId> Admitted(double at = 0) { return table_.Review(At(at)).admit; }
  std::vector<std::pair<ConnectionId, CutReason>> Cut(double at) {
    std::vector<std::pair<ConnectionId, CutReason>> cuts;
    for (const auto& cut : table_.Review(At(at)).cut) cuts.emplace_back(cut.id, cut.reason);
    return cuts;
  }
  auto IsCut(ConnectionId id, CutReason reason) { return std::pair(id, reason); }

  std::uint64_t arrived_ = 0;
  ConnectionTable table_{SmallLimits()};
};

TEST_F(ConnectionTableTest,
       AdmitsAFewUnauthenticatedConnectionsOfAHostAndTheNextWhenOneAuthenticates) {
  const ConnectionId a = Arrive("evil");
  const ConnectionId b = Arrive("evil");
  const ConnectionId c = Arrive("evil");
  EXPECT_THAT(Admitted(), ElementsAre(a, b));
  EXPECT_EQ(table_.waiting(), 1U);
  EXPECT_TRUE(table_.OnAuthenticated(a));
  EXPECT_THAT(Admitted(), ElementsAre(c));
}

TEST_F(ConnectionTableTest, AdmitsOtherHostsWhileOneFillsItsPlaces) {
  for (int i = 0; i < 10; ++i) Arrive("evil");
  const ConnectionId good = Arrive("good");
  const std::vector<ConnectionId> admitted = Admitted();
  EXPECT_THAT(admitted, SizeIs(3));
  EXPECT_THAT(admitted, ::testing::Contains(good));
}

TEST_F(ConnectionTableTest, AdmitsHostsInTurnWhenAllPlacesAreTaken) {
  for (const char* host : {"a", "a", "b", "b", "c", "c"}) Arrive(host);
  EXPECT_THAT(Admitted(), SizeIs(4));
  // The host that was served least is next.
  table_.Closed(ConnectionId(1), kStart);
  EXPECT_THAT(Admitted(), ElementsAre(ConnectionId(4)));
}

TEST_F(ConnectionTableTest, LimitsTheTimeToAuthenticateAndShortensItWhileAnotherWaits) {
  const ConnectionId a = Arrive("evil");
  const ConnectionId b = Arrive("evil");
  Admitted();
  EXPECT_THAT(Cut(9.9), IsEmpty());
  const ConnectionId c = Arrive("evil", 9.9);
  EXPECT_THAT(Cut(9.95), ::testing::UnorderedElementsAre(IsCut(a, CutReason::kTime),
                                                         IsCut(b, CutReason::kTime)));
  EXPECT_THAT(table_.unauthenticated(), ElementsAre(c)) << "the line does not stand still for that";
  EXPECT_THAT(Cut(19.9), IsEmpty());
  EXPECT_THAT(Cut(20), ElementsAre(IsCut(c, CutReason::kTime)));
}

TEST_F(ConnectionTableTest, CutsConnectionsThatWaitTooLong) {
  const ConnectionId evil = Arrive("evil");
  Admitted();
  table_.Sent(evil, 0, 6);
  EXPECT_THAT(Cut(9), ElementsAre(IsCut(evil, CutReason::kCalls)));
  const ConnectionId waits = Arrive("evil", 9);
  EXPECT_THAT(Cut(10.9), IsEmpty());
  EXPECT_EQ(table_.waiting(), 1U) << "the line stands still";
  EXPECT_THAT(Cut(19.1), ElementsAre(IsCut(waits, CutReason::kTime)));
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ConnectionTableTest, CutsAnUnauthenticatedConnectionWithTooManyCallsAndPausesItsHostOnly) {
  const ConnectionId evil = Arrive("evil");
  Admitted();
  table_.Sent(evil, 0, 5);
  EXPECT_THAT(Cut(0.1), IsEmpty());
  table_.Sent(evil, 0, 6);
  EXPECT_THAT(Cut(0.2), ElementsAre(IsCut(evil, CutReason::kCalls)));
  const ConnectionId again = Arrive("evil", 0.3);
  const ConnectionId good = Arrive("good", 0.3);
  EXPECT_THAT(Admitted(0.3), ElementsAre(good));
  EXPECT_THAT(Admitted(2.1), IsEmpty());
  EXPECT_THAT(Admitted(2.2), ElementsAre(again));
}

TEST_F(ConnectionTableTest, CutsTheConnectionThatSentMostWhenItsHostExceedsItsBytes) {
  const ConnectionId loud = Arrive("evil");
  const ConnectionId quiet = Arrive("evil");
  Admitted();
  table_.Sent(loud, 700, 1);
  table_.Sent(quiet, 300, 1);
  EXPECT_THAT(Cut(0.1), IsEmpty());
  table_.Sent(loud, 701, 1);
  EXPECT_THAT(Cut(0.2), ElementsAre(IsCut(loud, CutReason::kBytes)));
  EXPECT_THAT(table_.unauthenticated(), ElementsAre(quiet));
}

TEST_F(ConnectionTableTest, ReconnectingGivesNoAdvantage) {
  const ConnectionId calls = Arrive("evil");
  ASSERT_THAT(Admitted(), ElementsAre(calls));
  table_.Sent(calls, 10, 5);  // This connection is at its limit.
  table_.Closed(calls, At(1));
  const ConnectionId again = Arrive("evil", 1);
  const ConnectionId good = Arrive("good", 1);
  EXPECT_THAT(Admitted(2.9), ElementsAre(good));
  EXPECT_THAT(Admitted(3), ElementsAre(again));
  // The calls of a connection that closes immediately are unknown.
  table_.Sent(again, 250, 0);
  table_.Closed(again, At(3));
  const ConnectionId last = Arrive("evil", 3);
  EXPECT_THAT(Admitted(3.7), IsEmpty());
  EXPECT_THAT(Admitted(3.8), ElementsAre(last));
}

TEST_F(ConnectionTableTest, AnAuthenticatedConnectionThatClosesPausesNoLine) {
  const ConnectionId known = Arrive("host");
  ASSERT_THAT(Admitted(), ElementsAre(known));
  table_.Sent(known, 400, 4);
  table_.OnAuthenticated(known);
  table_.Closed(known, kStart);
  const ConnectionId next = Arrive("host");
  EXPECT_THAT(Admitted(), ElementsAre(next));
}

TEST_F(ConnectionTableTest, NeverCutsAuthenticatedConnections) {
  const ConnectionId good = Arrive("both");
  Admitted();
  table_.OnAuthenticated(good);
  table_.Sent(good, 1'000'000, 1000);
  const ConnectionId evil = Arrive("both");
  Admitted();
  table_.Sent(evil, 5000, 1);
  EXPECT_THAT(Cut(1), ElementsAre(IsCut(evil, CutReason::kBytes)));
  EXPECT_THAT(Cut(1e6), IsEmpty());
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(ConnectionTableTest, AdmitsMoreOfAHostWhileItsConnectionsAuthenticate) {
  std::vector<ConnectionId> all;
  for (int i = 0; i < 10; ++i) all.push_back(Arrive("many"));
  Admitted();
  table_.OnAuthenticated(all[0]);
  EXPECT_THAT(Admitted(), ElementsAre(all[2], all[3]));
  table_.OnAuthenticated(all[1]);
  EXPECT_THAT(Admitted(), ElementsAre(all[4])) << "these are the most";
  table_.Sent(all[2], 0, 6);
  EXPECT_THAT(Cut(0.1), ElementsAre(IsCut(all[2], CutReason::kCalls)));
  EXPECT_THAT(Admitted(2.2), SizeIs(2)) << "as few as in the beginning";
}

TEST_F(ConnectionTableTest, ResetsThePlacesOfAHostWhenItsLineEnds) {
  const ConnectionId a = Arrive("both");
  const ConnectionId b = Arrive("both");
  const ConnectionId c = Arrive("both");
  Admitted();
  for (const ConnectionId id : {a, b, c}) {
    table_.OnAuthenticated(id);
    Admitted();
  }
  for (int i = 0; i < 5; ++i) Arrive("both");
  EXPECT_THAT(Admitted(), SizeIs(2));
}

// The longest queue of any host is shortened. Two hosts cannot exclude a third.
TEST_F(ConnectionTableTest, CutsTheLongestLineInFavourOfAShorterOne) {
  std::vector<ConnectionId> evil;
  for (int i = 0; i < 20; ++i) {
    evil.push_back(Arrive("evil"));
    evil.push_back(Arrive("evil too"));
  }
  EXPECT_EQ(Arrive("evil"), ConnectionId{0});
  const ConnectionId good = Arrive("good");
  ASSERT_NE(good, ConnectionId{0});
  const ConnectionTable::Orders orders = table_.Review(kStart);
  EXPECT_THAT(orders.admit, ::testing::Contains(good));
  ASSERT_THAT(orders.cut, SizeIs(1));
  EXPECT_EQ(orders.cut[0].id, evil[38]) << "the newest of its line";
  EXPECT_EQ(orders.cut[0].reason, CutReason::kRoom);
  EXPECT_EQ(table_.size(), 40U);
}

TEST_F(ConnectionTableTest, OneHostNeverHasAllConnections) {
  for (int i = 0; i < 50; ++i) {
    const ConnectionId id = Arrive("many");
    ASSERT_NE(id, ConnectionId{0});
    EXPECT_THAT(Admitted(), ElementsAre(id));
    table_.OnAuthenticated(id);
  }
  EXPECT_EQ(Arrive("many"), ConnectionId{0});
  EXPECT_NE(Arrive("other"), ConnectionId{0});
}

TEST_F(ConnectionTableTest, ForgetsClosedConnections) {
  const ConnectionId waits = Arrive("a");
  table_.Closed(waits, kStart);
  EXPECT_THAT(Admitted(), IsEmpty());
  const ConnectionId gone = Arrive("a");
  Admitted();
  table_.Closed(gone, kStart);
  table_.Closed(gone, kStart);
  table_.Sent(gone, 1 << 20, 1 << 20);
  EXPECT_FALSE(table_.OnAuthenticated(gone));
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_THAT(table_.unauthenticated(), IsEmpty());
  EXPECT_EQ(table_.waiting(), 0U);
}

TEST(ConnectionTable, AdmitsAllConnectionsAtOnceWithoutAuthentication) {
  ConnectionTable table(LimitsFor(1024, 64, 4 << 20, false));
  for (std::uint64_t i = 1; i <= 300; ++i) ASSERT_TRUE(table.Arrive(ConnectionId(i), "a", kStart));
  EXPECT_THAT(table.Review(kStart).admit, SizeIs(300));
  EXPECT_THAT(table.Review(kStart + absl::Hours(1)).cut, IsEmpty());
}

TEST(ConnectionLimits, LimitsLeaveDescriptorsForOtherFiles) {
  for (const std::size_t descriptors : {64, 1024, 4096, 65'536, 1 << 20}) {
    for (const bool has_unauthenticated : {false, true}) {
      const ConnectionLimits limits = LimitsFor(descriptors, 2064, 4 << 20, has_unauthenticated);
      EXPECT_LE(2 * limits.connections_max + std::min<std::size_t>(2064, descriptors / 4),
                descriptors);
      EXPECT_GE(limits.connections_max, 3 * descriptors / 8);
    }
  }
}

}  // namespace
}  // namespace tidemark::service::connection_table_test
