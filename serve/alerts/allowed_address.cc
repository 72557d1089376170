#include "serve/alerts/allowed_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace tidemark::cli {
namespace {

struct Net4 {
  std::uint32_t address;
  unsigned bits;
};
constexpr Net4 kForbidden4[] = {
    {0x00000000, 8},   // this host
    {0x7F000000, 8},   // loopback
    {0xA9FE0000, 16},  // link-local, with the metadata of most clouds
    {0x64646400, 24},  // 100.100.100.0, with those of Alibaba's
    {0xA83F8110, 32},  // 168.63.129.16, those of Azure's hosts
    {0xC0000000, 24},  // 192.0.0.0, with those of Oracle's
    {0xE0000000, 3},   // groups, and what is reserved
};

bool IsAllowed4(std::uint32_t address) {
  return std::none_of(std::begin(kForbidden4), std::end(kForbidden4), [&](const Net4& net) {
    return (address ^ net.address) >> (32 - net.bits) == 0;
  });
}

using Bytes = std::array<std::uint8_t, 16>;

std::uint32_t Last4(const Bytes& bytes, std::size_t from) {
  return std::uint32_t{bytes[from]} << 24 | std::uint32_t{bytes[from + 1]} << 16 |
         std::uint32_t{bytes[from + 2]} << 8 | std::uint32_t{bytes[from + 3]};
}

bool Begins(const Bytes& bytes, std::initializer_list<std::uint8_t> with) {
  return std::equal(with.begin(), with.end(), bytes.begin());
}

bool IsAllowed6(const Bytes& bytes) {
  const bool is_of_ip4 = Begins(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const std::uint16_t marks = static_cast<std::uint16_t>(bytes[10] << 8 | bytes[11]);
  // ::ffff:a.b.c.d, and ::a.b.c.d, of which :: and ::1 are two.
  if (is_of_ip4 && (marks == 0xFFFF || marks == 0)) return IsAllowed4(Last4(bytes, 12));
  // Through translators and tunnels: 64:ff9b::a.b.c.d, 2002:ab:cd:: and ...:0:5efe:a.b.c.d. Where
  // the others have the address is up to a network, or it is hidden: nobody is called by them.
  if (Begins(bytes, {0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0})) {
    return IsAllowed4(Last4(bytes, 12));
  }
  if (Begins(bytes, {0x20, 0x02})) return IsAllowed4(Last4(bytes, 2));
  if ((bytes[8] & 0xFD) == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE) {
    return IsAllowed4(Last4(bytes, 12));
  }
  // The rest of ::/8 is for translators, such as ::ffff:0:a.b.c.d; 2001::/32 is Teredo's.
  const bool is_hidden = bytes[0] == 0 || Begins(bytes, {0x20, 0x01, 0, 0});
  const bool is_metadata = Begins(bytes, {0xFD, 0x00, 0x0E, 0xC2}) ||  // of Amazon's
                           Begins(bytes, {0xFD, 0x20, 0x00, 0xCE}) ||  // of Google's
                           Begins(bytes, {0xFD, 0x00, 0x00, 0xC1});    // of Oracle's
  const bool is_of_link = bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
  return !is_hidden && !is_metadata && !is_of_link && bytes[0] != 0xFF;
}

}  // namespace

bool IsAllowedForWebhooks(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in ip4;
    std::memcpy(&ip4, &address, sizeof ip4);
    return IsAllowed4(ntohl(ip4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 ip6;
    std::memcpy(&ip6, &address, sizeof ip6);
    Bytes bytes;
    std::memcpy(bytes.data(), &ip6.sin6_addr, bytes.size());
    return IsAllowed6(bytes);
  }
  return false;
}

}  // namespace tidemark::cli
