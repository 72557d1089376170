#include "agent/source_id.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <random>

#include "tidemark/agent.h"

namespace tidemark::agent {

std::string MakeSourceId() {
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"host"};
  return fmt::format("{}-{}-{}", host.data(), getpid(), MakeRunUid());
}

}  // namespace tidemark::agent

namespace tidemark {

std::string MakeRunUid() {
  std::random_device random;
  const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{:016x}", number);
}

}  // namespace tidemark
