#include "proto/wire/job_codec.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "proto/wire/job_fields.h"
#include "text/ascii_json.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::wire {
namespace {

// Each once, and in the order of what `key` gives.
template <typename T, typename Key>
bool IsSorted(const std::vector<T>& values, Key key) {
  return std::adjacent_find(values.begin(), values.end(), [&](const T& a, const T& b) {
           return !(key(a) < key(b));
         }) == values.end();
}

absl::Status CheckOrder(const Snapshot& snapshot) {
  const auto id = [](const auto& stage) { return stage.id; };
  const char* const sorted = "must be sorted by id, each id once";
  if (!IsSorted(snapshot.stage_infos, id)) return FieldError("stage_infos", sorted);
  if (!IsSorted(snapshot.stages, id)) return FieldError("stages", sorted);
  if (!IsSorted(snapshot.children, [](const Child& child) { return child.number; })) {
    return FieldError("children", "must be sorted by number, each number once");
  }
  // Of a delta, each list holds what has changed in it.
  const bool is_whole = snapshot.base_sequence == 0;
  if (is_whole && !std::ranges::equal(snapshot.stages, snapshot.stage_infos, {}, id, id)) {
    return FieldError("stage_infos", "must be of the same stages as stages");
  }
  if (!IsSorted(snapshot.groups, [](const Group& group) { return group.group; })) {
    return FieldError("groups", "must be sorted by group, each group once");
  }
  return absl::OkStatus();
}

}  // namespace

void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message) { Encode(snapshot, message); }

absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message) {
  absl::StatusOr<Snapshot> snapshot = Parse<Snapshot>(message, /*is_strict=*/false);
  if (!snapshot.ok()) return snapshot;
  if (absl::Status order = CheckOrder(*snapshot); !order.ok()) return order;
  return snapshot;
}

std::string SnapshotJson(const Snapshot& snapshot) {
  v1::Snapshot message;
  Encode(snapshot, message);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails for no message of ours: Encode() keeps times within what JSON can say.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return text::AsciiJson(std::move(json));
}

}  // namespace tidemark::wire
