#include "proto/wire/job_request.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "proto/wire/fields.h"
#include "proto/wire/job_fields.h"
#include "tidemark/v1/job_service.pb.h"

namespace tidemark {

template <class Io, wire::ConstOrNot<JobFilter> V>
void Fields(Io& io, V& filter) {
  io("states", filter.states);
  io("kinds", filter.kinds);
  io("user", filter.user);
  io("queue", filter.queue);
  io("name_prefix", filter.name_prefix);
  io("workflow_id", filter.workflow_id);
}

template <class Io, wire::ConstOrNot<PlanState::Stage> V>
void Fields(Io& io, V& stage) {
  io("id", stage.id);
  io.Amount("task_count", stage.tasks);
  io("task_time", stage.task_time);
  io("bottleneck", stage.bottleneck);
}

template <class Io, wire::ConstOrNot<PlanState> V>
void Fields(Io& io, V& state) {
  io("starts_in", state.starts_in);
  io("ends_in", state.ends_in);
  io("stages", state.stages);
}

namespace wire {
namespace {

// The same limit as that of CheckPlan().
constexpr std::uint32_t kSlotsMax = 1'000'000;
// Chosen by hand; a larger factor is a typing error.
constexpr double kDataFactorMax = 1e6;

absl::Status CheckCount(const char* field, std::uint32_t count) {
  if (count >= 1 && count <= kSlotsMax) return absl::OkStatus();
  return FieldError(field, fmt::format("must be from 1 to {}, not {}", kSlotsMax, count));
}

absl::Status CheckList(const char* field, int size, int size_max) {
  if (size <= size_max) return absl::OkStatus();
  return FieldError(field, fmt::format("must be at most {}, not {}", size_max, size));
}

}  // namespace

void EncodeJobFilter(const JobFilter& filter, v1::JobFilter& message) {
  EncodeFields(filter, message);
}

void EncodeScenario(const Scenario& scenario, v1::Scenario& message) {
  if (scenario.slots) message.set_slots(*scenario.slots);
  if (scenario.data_factor) message.set_data_factor(*scenario.data_factor);
  if (scenario.policy) message.set_policy(static_cast<v1::SchedulingPolicy>(*scenario.policy));
  if (scenario.executors) message.set_executors(*scenario.executors);
}

void EncodePlanState(const PlanState& state, v1::PlanState& message) {
  EncodeFields(state, message);
}

absl::StatusOr<PlanState> ParsePlanState(const v1::PlanState& untrusted) {
  return Parse<PlanState>(untrusted, /*is_strict=*/true);
}

absl::Status CheckText(std::string_view field, std::string_view untrusted) {
  if (untrusted.size() <= kTextBytesMax) return absl::OkStatus();
  return FieldError(
      field, fmt::format("must have at most {} bytes, not {}", kTextBytesMax, untrusted.size()));
}

absl::Status CheckId(std::string_view field, std::string_view untrusted) {
  return untrusted.empty() ? FieldError(field, "is missing") : CheckText(field, untrusted);
}

absl::StatusOr<JobFilter> ParseJobFilter(const v1::JobFilter& untrusted) {
  if (absl::Status ok = CheckList("states", untrusted.states_size(), v1::JobState_ARRAYSIZE);
      !ok.ok()) {
    return ok;
  }
  if (absl::Status ok = CheckList("kinds", untrusted.kinds_size(), v1::JobKind_ARRAYSIZE);
      !ok.ok()) {
    return ok;
  }
  const std::pair<const char*, const std::string*> texts[] = {
      {"user", &untrusted.user()},
      {"queue", &untrusted.queue()},
      {"name_prefix", &untrusted.name_prefix()},
      {"workflow_id", &untrusted.workflow_id()}};
  for (const auto& [field, text] : texts) {
    if (absl::Status ok = CheckText(field, *text); !ok.ok()) return ok;
  }
  return Parse<JobFilter>(untrusted, /*is_strict=*/true);
}

absl::StatusOr<Scenario> ParseScenario(const v1::Scenario& untrusted) {
  Scenario scenario;
  if (untrusted.has_slots()) {
    scenario.slots = untrusted.slots();
    if (absl::Status ok = CheckCount("slots", *scenario.slots); !ok.ok()) return ok;
  }
  if (untrusted.has_executors()) {
    scenario.executors = untrusted.executors();
    if (absl::Status ok = CheckCount("executors", *scenario.executors); !ok.ok()) return ok;
    if (scenario.slots) return FieldError("executors", "must be omitted if slots are set");
  }
  if (untrusted.has_data_factor()) {
    scenario.data_factor = untrusted.data_factor();
    if (!(untrusted.data_factor() > 0 && untrusted.data_factor() <= kDataFactorMax)) {
      return FieldError("data_factor",
                        fmt::format("must be positive and at most {:.12g}, not {:.12g}",
                                    kDataFactorMax, untrusted.data_factor()));
    }
  }
  if (!v1::SchedulingPolicy_IsValid(untrusted.policy())) {
    return FieldError("policy", fmt::format("must be a value that this version supports, not {}",
                                            static_cast<int>(untrusted.policy())));
  }
  if (untrusted.policy() != v1::SCHEDULING_POLICY_UNSPECIFIED) {
    scenario.policy = static_cast<SchedulingPolicy>(untrusted.policy());
  }
  return scenario;
}

absl::StatusOr<View> ParseView(int untrusted, View otherwise) {
  if (!v1::View_IsValid(untrusted)) {
    return FieldError("view",
                      fmt::format("must be a value that this version supports, not {}", untrusted));
  }
  const View view = static_cast<View>(untrusted);
  return view == View::kUnknown ? otherwise : view;
}

}  // namespace wire
}  // namespace tidemark
