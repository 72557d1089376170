#include "master/service/begun_calls.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"

namespace tidemark::service {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// Numbers are given to sockets a little before they are listed, so that one may come after its
// successors.
constexpr std::int64_t kLateBy = 100;

// gRPC's answer in JSON; empty if there was none.
Struct Parse(char* json) {
  Struct message;
  if (json != nullptr) {
    const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
    if (!status.ok()) message.Clear();
    gpr_free(json);
  }
  return message;
}

const Value& In(const Struct& message, const char* field) {
  const auto found = message.fields().find(field);
  return found == message.fields().end() ? Value::default_instance() : found->second;
}

// Numbers are words in it.
std::int64_t NumberIn(const Struct& message, const char* field) {
  std::int64_t number = 0;
  return absl::SimpleAtoi(In(message, field).string_value(), &number) ? number : 0;
}

}  // namespace

std::string PlainPeer(std::string peer) {
  const std::size_t open = peer.find("%5B");
  if (open == std::string::npos) return peer;
  peer.replace(open, 3, "[");
  const std::size_t close = peer.rfind("%5D");
  if (close == std::string::npos) return peer;
  peer.replace(close, 3, "]");
  const std::size_t zone = peer.find('%');
  if (zone < close) peer.erase(zone, close - zone);
  return peer;
}

void BegunCalls::LookAtServers() {
  server_ids_.clear();
  const Struct servers = Parse(grpc_channelz_get_servers(0));
  for (const Value& server : In(servers, "server").list_value().values()) {
    const Struct& ref = In(server.struct_value(), "ref").struct_value();
    server_ids_.push_back(NumberIn(ref, "serverId"));
  }
}

std::vector<std::uint64_t> BegunCalls::Of(const std::vector<std::string>& peers) {
  if (!std::ranges::all_of(peers, [&](const auto& peer) { return socket_ids_.contains(peer); })) {
    for (const std::int64_t id : server_ids_) FindNewSockets(id);
  }
  absl::flat_hash_map<std::string, std::int64_t> asked_for;
  std::vector<std::uint64_t> calls;
  for (const std::string& peer : peers) {
    calls.push_back(0);
    const auto id = socket_ids_.find(peer);
    if (id == socket_ids_.end()) continue;
    const Struct answer = Parse(grpc_channelz_get_socket(id->second));
    const Struct& data = In(In(answer, "socket").struct_value(), "data").struct_value();
    calls.back() = static_cast<std::uint64_t>(NumberIn(data, "streamsStarted"));
    asked_for.insert(*id);
  }
  socket_ids_ = std::move(asked_for);
  return calls;
}

void BegunCalls::FindNewSockets(std::int64_t server_id) {
  std::int64_t next = std::max<std::int64_t>(newest_socket_id_ - kLateBy, 0);
  for (bool end = false; !end;) {
    const Struct page = Parse(grpc_channelz_get_server_sockets(server_id, next, 0));
    const auto& sockets = In(page, "socketRef").list_value().values();
    for (const Value& socket : sockets) {
      const std::int64_t id = NumberIn(socket.struct_value(), "socketId");
      const std::string name = In(socket.struct_value(), "name").string_value();
      // Its transport and its peer.
      socket_ids_[PlainPeer(name.substr(name.rfind(' ') + 1))] = id;
      newest_socket_id_ = std::max(newest_socket_id_, id);
      next = id + 1;
    }
    end = sockets.empty() || In(page, "end").bool_value();
  }
}

}  // namespace tidemark::service
