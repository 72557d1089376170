#include "proto/wire/snapshot_delta.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "proto/wire/job_codec.h"
#include "tidemark/field_error.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark::wire {

namespace {

StageId KeyOf(const StageInfo& stage) { return stage.id; }
StageId KeyOf(const StageProgress& stage) { return stage.id; }
std::uint32_t KeyOf(const Child& child) { return child.number; }
const std::string& KeyOf(const Group& group) { return group.group; }

// --- Forecasts after `passed`, if they are unchanged ---

void Age(absl::Duration passed, absl::Duration& left) {
  left = std::max(left - passed, absl::ZeroDuration());
}
void Age(absl::Duration passed, std::optional<Range>& left) {
  if (!left) return;
  Age(passed, left->median);
  if (left->lower) Age(passed, *left->lower);
  if (left->upper) Age(passed, *left->upper);
}
void Age(absl::Duration, StageInfo&) {}
void Age(absl::Duration passed, StageProgress& stage) {
  Age(passed, stage.starts_in);
  Age(passed, stage.ends_in);
}
void Age(absl::Duration passed, Group& group) { Age(passed, group.ends_in); }
void Age(absl::Duration passed, Child& child) {
  Age(passed, child.starts_in);
  Age(passed, child.estimate.remaining);
}

// Returns the elements of `newer` that differ from the aged elements of `base`. Also returns the
// keys of elements that were removed.
template <typename T>
std::vector<T> Changed(const std::vector<T>& base, const std::vector<T>& newer,
                       absl::Duration passed,
                       std::vector<std::decay_t<decltype(KeyOf(T{}))>>& gone) {
  std::vector<T> changed;
  auto old = base.begin();
  for (const T& element : newer) {
    for (; old != base.end() && KeyOf(*old) < KeyOf(element); ++old) gone.push_back(KeyOf(*old));
    if (old == base.end() || KeyOf(element) < KeyOf(*old)) {
      changed.push_back(element);
      continue;
    }
    T aged = *old++;
    Age(passed, aged);
    if (!(aged == element)) changed.push_back(element);
  }
  for (; old != base.end(); ++old) gone.push_back(KeyOf(*old));
  return changed;
}

// Returns the aged elements of `base` without the elements in `gone`. Elements of `changed` replace
// the elements with the same key.
template <typename T>
std::vector<T> Merged(const std::vector<T>& base, std::vector<T> changed, absl::Duration passed,
                      const std::vector<StageId>& gone) {
  std::vector<T> merged;
  merged.reserve(base.size() + changed.size());
  auto replacement = changed.begin();
  for (const T& old : base) {
    for (; replacement != changed.end() && KeyOf(*replacement) < KeyOf(old); ++replacement) {
      merged.push_back(std::move(*replacement));
    }
    if (replacement != changed.end() && KeyOf(*replacement) == KeyOf(old)) {
      merged.push_back(std::move(*replacement++));
      continue;
    }
    if constexpr (std::is_same_v<decltype(KeyOf(old)), StageId>) {
      if (std::binary_search(gone.begin(), gone.end(), KeyOf(old))) continue;
    }
    merged.push_back(old);
    Age(passed, merged.back());
  }
  std::move(replacement, changed.end(), std::back_inserter(merged));
  return merged;
}

}  // namespace

Snapshot Delta(const Snapshot& base, const Snapshot& newer) {
  const absl::Duration passed = newer.at - base.at;
  std::vector<StageId> gone_infos;
  std::vector<StageId> gone_stages;
  std::vector<std::uint32_t> gone_children;
  std::vector<StageInfo> infos = Changed(base.stage_infos, newer.stage_infos, passed, gone_infos);
  std::vector<StageProgress> stages = Changed(base.stages, newer.stages, passed, gone_stages);
  std::vector<Child> children = Changed(base.children, newer.children, passed, gone_children);
  std::vector<std::string> gone_groups;
  std::vector<Group> groups = Changed(base.groups, newer.groups, passed, gone_groups);
  // One list of removed stages applies to both lists, so the result must be whole if only one of
  // the lists lost a stage.
  const bool is_whole = base.sequence == 0 || passed < absl::ZeroDuration() ||
                        !gone_children.empty() || !gone_groups.empty() ||
                        gone_infos != gone_stages || (base.info && !newer.info) ||
                        (base.coverage && !newer.coverage);
  if (is_whole) return newer;
  Snapshot delta = WithoutParts(newer);
  delta.base_sequence = base.sequence;
  delta.stage_infos = std::move(infos);
  delta.stages = std::move(stages);
  delta.children = std::move(children);
  delta.groups = std::move(groups);
  delta.removed_stages = std::move(gone_stages);
  if (delta.info == base.info) delta.info.reset();
  if (delta.coverage == base.coverage) delta.coverage.reset();
  return delta;
}

Snapshot DeltaInView(const Snapshot& base, const Snapshot& newer, View view) {
  // Without stages, there is little to compare. For the other views, the view of the delta equals
  // the delta of the views, and is cheaper.
  if (view == View::kBasic) return Delta(WithView(base, view), WithView(newer, view));
  return WithView(Delta(base, newer), view);
}

absl::StatusOr<Snapshot> Apply(const Snapshot& base, const Snapshot& delta) {
  if (delta.base_sequence == 0) return delta;
  if (delta.base_sequence != base.sequence || delta.job_id != base.job_id ||
      delta.run_uid != base.run_uid) {
    return absl::FailedPreconditionError(
        fmt::format("snapshot {} of job {} builds on snapshot {}, and the newest here is {} of job "
                    "{}; watch the job again",
                    delta.sequence, delta.job_id, delta.base_sequence, base.sequence, base.job_id));
  }
  const absl::Duration passed = std::max(delta.at - base.at, absl::ZeroDuration());
  std::vector<StageId> gone = delta.removed_stages;
  std::sort(gone.begin(), gone.end());
  Snapshot newer = delta;
  newer.base_sequence = 0;
  newer.removed_stages.clear();
  newer.stage_infos = Merged(base.stage_infos, delta.stage_infos, passed, gone);
  newer.stages = Merged(base.stages, delta.stages, passed, gone);
  newer.children = Merged(base.children, delta.children, passed, gone);
  newer.groups = Merged(base.groups, delta.groups, passed, gone);
  if (!newer.info) newer.info = base.info;
  if (!newer.coverage) newer.coverage = base.coverage;
  return newer;
}

absl::StatusOr<Snapshot> JobReader::Take(const v1::WatchJobResponse& response) {
  const absl::StatusOr<Snapshot> received = ParseSnapshot(response.snapshot());
  if (!received.ok()) return received.status();
  absl::StatusOr<Snapshot> newer = Apply(newest_, *received);
  if (!newer.ok()) return newer;
  newest_ = *newer;
  resume_token_ = response.resume_token();
  return newer;
}

absl::Status JobListReader::Take(const v1::WatchJobsResponse& response) {
  std::vector<Snapshot> received;
  for (const v1::Snapshot& message : response.snapshots()) {
    absl::StatusOr<Snapshot> snapshot = ParseSnapshot(message);
    if (!snapshot.ok()) return snapshot.status();
    if (snapshot->base_sequence != 0) {
      return FieldError("snapshots.base_sequence", "must be 0: lists hold whole snapshots");
    }
    received.push_back(*std::move(snapshot));
  }
  if (response.restarted()) jobs_.clear();
  for (Snapshot& snapshot : received) {
    std::string job_id = snapshot.job_id;
    jobs_.insert_or_assign(std::move(job_id), std::move(snapshot));
  }
  for (const std::string& job_id : response.removed_job_ids()) jobs_.erase(job_id);
  synced_ = response.synced();
  resume_token_ = response.resume_token();
  return absl::OkStatus();
}

}  // namespace tidemark::wire
