#include "proto/wire/job_codec.h"

#include <algorithm>

#include "proto/wire/job_fields.h"
#include "proto/wire/job_view.h"
#include "proto/wire/message_json.h"
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

void EncodeSnapshot(const Snapshot& snapshot, View view, v1::Snapshot& message) {
  const bool is_all = view == View::kUnknown || view == View::kFull;
  if (is_all) return Encode(snapshot, message);
  Encode(WithView(snapshot, view), message);
}

absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message) {
  absl::StatusOr<Snapshot> snapshot = Parse<Snapshot>(message, /*is_strict=*/false);
  if (!snapshot.ok()) return snapshot;
  if (absl::Status order = CheckOrder(*snapshot); !order.ok()) return order;
  return snapshot;
}

std::string SnapshotJson(const Snapshot& snapshot) {
  v1::Snapshot message;
  Encode(snapshot, message);
  return MessageJson(message);
}

}  // namespace tidemark::wire
