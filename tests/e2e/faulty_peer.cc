// A faulty server at the address of a master, for tests. Usage: faulty_peer MODE [PORT]
//
//   unreachable   drops the packets of new connections
//   silent        accepts connections, and never reads or writes
//   hangup        accepts and closes connections
//   garbage       writes random bytes without end
//   slow PORT     forwards data to and from PORT of this host, with a delay of 300 ms
//   corrupt PORT  forwards data, with wrong bits in the responses of PORT after the first bytes
//
// Prints "listening on ADDRESS" on standard error and runs until it is killed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>

namespace {

constexpr std::chrono::milliseconds kSlowness{300};
// HTTP/2 settings and their first acknowledgement, which clients accept from a server.
constexpr std::size_t kHonestBytes = 40;

using Buffer = std::array<char, 16384>;

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int Connect(std::uint16_t port, int flags = 0) {
  const int connection = socket(AF_INET, SOCK_STREAM | flags, 0);
  const sockaddr_in address = Loopback(port);
  const int made =
      connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  if (made == 0 || flags != 0) return connection;
  close(connection);
  return -1;
}

bool SendAll(int connection, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Forwards data until one side closes the connection. `meddle` receives each piece, and the number
// of bytes before the piece.
using Meddle = std::function<void(char* bytes, std::size_t size, std::size_t before)>;
void Pass(int from, int to, const Meddle& meddle) {
  Buffer buffer;
  std::size_t before = 0;
  while (true) {
    const ssize_t got = recv(from, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    meddle(buffer.data(), size, before);
    before += size;
    if (!SendAll(to, buffer.data(), size)) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

void PassBothWays(int client, std::uint16_t port, const Meddle& asked, const Meddle& answered) {
  const int server = Connect(port);
  if (server >= 0) {
    std::thread answers([&] { Pass(server, client, answered); });
    Pass(client, server, asked);
    answers.join();
    close(server);
  }
  close(client);
}

void Late(char*, std::size_t, std::size_t) { std::this_thread::sleep_for(kSlowness); }

void Corrupt(char* bytes, std::size_t size, std::size_t before) {
  for (std::size_t i = 0; i < size; ++i) {
    if (before + i >= kHonestBytes) bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  }
}

void SayNoise(int client) {
  std::minstd_rand random(1);
  Buffer noise;
  do {
    for (char& byte : noise) byte = static_cast<char>(random());
  } while (SendAll(client, noise.data(), noise.size()));
  close(client);
}

void Serve(const std::string& mode, std::uint16_t port, int client) {
  const Meddle nothing = [](char*, std::size_t, std::size_t) {};
  if (mode == "silent") return;
  if (mode == "garbage") return SayNoise(client);
  if (mode == "slow") return PassBothWays(client, port, Late, Late);
  if (mode == "corrupt") return PassBothWays(client, port, nothing, Corrupt);
  close(client);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string mode = argv[1];
  const auto target = static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 0);
  signal(SIGPIPE, SIG_IGN);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  const bool listens = bind(listener, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                       listen(listener, mode == "unreachable" ? 0 : SOMAXCONN) == 0 &&
                       getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  if (!listens) return 1;
  const std::uint16_t port = ntohs(address.sin_port);
  // With a full backlog, the kernel drops the packets of new connections.
  for (int i = 0; mode == "unreachable" && i < 4; ++i) Connect(port, SOCK_NONBLOCK);
  std::fprintf(stderr, "listening on 127.0.0.1:%d\n", port);
  while (mode == "unreachable") pause();
  while (true) {
    const int client = accept(listener, nullptr, nullptr);
    if (client >= 0) std::thread(Serve, mode, target, client).detach();
  }
}
