#include "cli/console/plain_lines.h"

#include <fmt/format.h>

#include "cli/console/duration_text.h"
#include "cli/console/shown_percent.h"
#include "cli/console/text.h"
#include "cli/console/wording.h"

namespace tidemark::console {
namespace {

constexpr absl::Duration kAtLeastEvery = absl::Seconds(10);

// Those that have anything to say.
std::string OtherIndicators(const Snapshot& snapshot, const TextOptions& options) {
  std::string text;
  for (std::size_t i = 1; i < snapshot.forecasts.size(); ++i) {
    const Forecast& forecast = snapshot.forecasts[i];
    const std::string percent = PercentText(snapshot, forecast);
    if (percent == "-") continue;
    text += fmt::format("{}{} {}", text.empty() ? "; " : ", ",
                        Printable(forecast.indicator, options.unicode), percent);
  }
  return text;
}

}  // namespace

std::string PlainLine(const Snapshot& snapshot, const TextOptions& options, bool compare) {
  std::string line =
      fmt::format("[{}] {}:", DurationText(snapshot.elapsed), JobTitle(snapshot, options));
  if (const PhaseProgress* phase = CurrentPhase(snapshot)) {
    line += fmt::format(" {},", PhaseText(*phase));
  }
  if (snapshot.forecasts.empty()) {
    return line + " " + (snapshot.is_final() ? StateName(snapshot.state) : "not started");
  }
  const Forecast& main = snapshot.forecasts.front();
  const std::string percent = PercentText(snapshot, main);
  if (percent != "-") line += fmt::format(" {},", percent);
  line += " " + DescribeRemaining(snapshot, main, options).text();
  if (std::string last = StragglerText(snapshot, options); !last.empty()) {
    if (last.starts_with("Reduce")) last[0] = 'r';  // in the middle of a line
    line += "; " + last;
  }
  if (compare) line += OtherIndicators(snapshot, options);
  for (const std::string& text : CoverageTexts(snapshot, options)) line += "; " + text;
  return line;
}

PlainLines::Said PlainLines::What(const Snapshot& snapshot) {
  Said said{.state = snapshot.state,
            .notes = snapshot.coverage.notes.size(),
            .silent = snapshot.coverage.silent_for > absl::ZeroDuration()};
  if (const PhaseProgress* phase = CurrentPhase(snapshot)) said.phase = phase->phase;
  if (!snapshot.forecasts.empty()) {
    said.percent = ShownPercent(snapshot.forecasts.front().fraction_done, snapshot);
    said.forecast = snapshot.forecasts.front().state;
  }
  return said;
}

std::optional<std::string> PlainLines::Next(const Snapshot& snapshot) {
  const Said now = What(snapshot);
  const bool is_due = !said_ || now != *said_ || snapshot.at - said_at_ >= kAtLeastEvery;
  if (!is_due) return std::nullopt;
  said_ = now;
  said_at_ = snapshot.at;
  return PlainLine(snapshot, options_, compare_);
}

}  // namespace tidemark::console
