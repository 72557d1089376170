#include "master/service/peer_limit.h"

#include <gtest/gtest.h>

#include <utility>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

TEST(PeerLimit, PortsOfOneHostAreOnePeer) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.7:4711"), "ipv4:10.0.0.7");
  EXPECT_EQ(HostOfPeer("ipv6:[::1]:4711"), "ipv6:[::1]");
  EXPECT_EQ(HostOfPeer("unix:"), HostOfPeer("unix:/run/tidemark"));
}

TEST(PeerLimit, RefusesOneHostTooManyAndLeavesTheOthersAlone) {
  PeerLimit limit(2);
  const auto first = limit.Enter("ipv4:10.0.0.7:1");
  const auto second = limit.Enter("ipv4:10.0.0.7:2");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = limit.Enter("ipv4:10.0.0.7:3");
  EXPECT_TRUE(absl::IsResourceExhausted(third.status()));
  EXPECT_EQ(ExceededLimit(third.status()), "streams_per_peer");
  EXPECT_TRUE(limit.Enter("ipv4:10.0.0.8:1").ok());
}

TEST(PeerLimit, APlaceComesFreeOnce) {
  PeerLimit limit(1);
  {
    auto place = limit.Enter("ipv4:10.0.0.7:1");
    ASSERT_TRUE(place.ok());
    const PeerLimit::Place moved = *std::move(place);
    EXPECT_EQ(limit.calls(), 1U);
  }
  EXPECT_EQ(limit.calls(), 0U);
  EXPECT_TRUE(limit.Enter("ipv4:10.0.0.7:1").ok());
}

}  // namespace
}  // namespace tidemark::service
