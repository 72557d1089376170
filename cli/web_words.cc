#include "cli/web_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/duration_text.h"
#include "cli/console/job_wording.h"
#include "cli/console/text.h"
#include "proto/wire/message_time.h"

namespace tidemark::cli {
namespace {

// Who waits for longer looks at no seconds, and nobody knows them. Taste.
constexpr absl::Duration kSecondsUntil = absl::Minutes(10);

constexpr console::TextOptions kText = {.unicode = true};

// Of the indicator that made the estimate.
std::string AccuracyText(const Snapshot& snapshot) {
  const std::string main = snapshot.estimate.indicator;
  const auto error = std::ranges::find_if(snapshot.errors, [&](const IndicatorError& each) {
    return each.indicator == (main.empty() ? "tidemark" : main);
  });
  if (error == snapshot.errors.end()) return "";
  return fmt::format("progress was {:.1f} points of 100 off on average, {:.1f} at most",
                     std::clamp(error->job_avg_points, 0.0, 100.0),
                     std::clamp(error->job_max_points, 0.0, 100.0));
}

// As precisely as the time that is left is said.
void SetEnd(const Snapshot& snapshot, web::v1::JobWords& words) {
  const Estimate& estimate = snapshot.estimate;
  const bool is_known = !snapshot.is_final && estimate.state == EstimateState::kValid &&
                        estimate.remaining &&
                        estimate.remaining->median != absl::InfiniteDuration();
  if (!is_known) return;
  const console::KnownRemaining known = console::RoundToKnown(
      estimate.remaining->median, estimate.remaining->lower, estimate.remaining->upper);
  const auto clock = [&](absl::Duration left) {
    const absl::Time at = snapshot.at + left;
    return known.remaining < kSecondsUntil
               ? at
               : absl::UnixEpoch() + absl::Floor(at - absl::UnixEpoch(), absl::Minutes(1));
  };
  wire::EncodeTime(clock(known.remaining), *words.mutable_ends_at());
  if (!known.has_range) return;
  wire::EncodeTime(clock(known.lower), *words.mutable_ends_at_lower());
  wire::EncodeTime(clock(known.upper), *words.mutable_ends_at_upper());
}

}  // namespace

web::v1::JobWords WebWordsOf(const Snapshot& snapshot) {
  web::v1::JobWords words;
  const Estimate& estimate = snapshot.estimate;
  const bool has_succeeded = snapshot.state == JobState::kSucceeded;
  words.set_title(console::JobTitle(snapshot, kText));
  words.set_state(console::StateName(snapshot));
  words.set_percent(console::PercentText(snapshot, estimate));
  words.set_shown_fraction(console::ShownFraction(estimate.fraction_done, has_succeeded));
  const console::RemainingWords remaining = console::DescribeRemaining(snapshot, estimate, kText);
  words.set_remaining(remaining.about);
  words.set_remaining_detail(remaining.joint + remaining.detail);
  words.set_has_percent(console::IsPercentTold(snapshot, estimate));
  SetEnd(snapshot, words);
  words.set_step(console::CurrentStep(snapshot));
  words.set_straggler(console::StragglerText(snapshot, kText));
  for (const std::string& warning : console::WarningTexts(snapshot, kText)) {
    words.add_warnings(warning);
  }
  if (snapshot.is_final) words.set_accuracy(AccuracyText(snapshot));
  for (const StageProgress& stage : snapshot.stages) {
    web::v1::StageWords& added = *words.add_stages();
    added.mutable_id()->set_child(stage.id.child);
    added.mutable_id()->set_stage(stage.id.stage);
    added.set_name(console::StageName(snapshot, stage.id, kText));
    added.set_state(console::StageStateText(stage, kText));
  }
  if (!snapshot.children.empty()) {
    const std::vector<console::Part> parts = console::PartsOf(snapshot, kText);
    for (std::size_t i = 0; i < std::min(parts.size(), snapshot.children.size()); ++i) {
      web::v1::ChildWords& added = *words.add_children();
      added.set_number(snapshot.children[i].number);
      added.set_name(parts[i].name);
      added.set_state(parts[i].state);
      added.set_percent(console::PercentText(parts[i]));
    }
  }
  for (const NamedTask& task : snapshot.named_tasks) {
    web::v1::TaskWords& added = *words.add_tasks();
    added.set_name(console::TaskText(snapshot, task, kText));
    if (task.remaining) {
      added.set_remaining(console::DescribeLeft(*task.remaining, kText).text());
    }
  }
  return words;
}

}  // namespace tidemark::cli
