#include "serve/page.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

#include "console/contention_table.h"
#include "console/deadline_wording.h"
#include "console/duration_text.h"
#include "console/job_summary.h"
#include "console/job_wording.h"
#include "console/run_comparison.h"
#include "console/text.h"
#include "console/waits_table.h"
#include "proto/wire/explain_codec.h"
#include "proto/wire/message_time.h"
#include "text/size_text.h"
#include "transport/listen_address.h"

namespace tidemark::serve {
namespace {

constexpr console::TextOptions kText = {.unicode = true};

// Returns the forecast error of an indicator. An empty name selects the first indicator.
std::string AccuracyText(const Snapshot& snapshot, const std::string& indicator) {
  const IndicatorError* const error = console::ErrorOf(snapshot, indicator);
  if (error == nullptr) return "";
  return fmt::format("mean progress error {:.1f} points, largest {:.1f}",
                     std::clamp(error->job_avg_points, 0.0, 100.0),
                     std::clamp(error->job_max_points, 0.0, 100.0));
}

// Sets the forecast end, rounded like the remaining time.
void SetEnd(const Snapshot& snapshot, web::v1::JobWords& words) {
  const Estimate& estimate = snapshot.estimate;
  const bool is_known =
      !snapshot.is_final && estimate.state == EstimateState::kValid && estimate.remaining &&
      estimate.remaining->median != absl::InfiniteDuration() &&
      // A longer time is shown without an upper bound, so it has no latest end.
      estimate.remaining->upper.value_or(estimate.remaining->median) <= text::kLongestSaid;
  if (!is_known) return;
  const console::KnownRemaining known = console::RoundToKnown(
      estimate.remaining->median, estimate.remaining->lower, estimate.remaining->upper);
  const absl::Duration step = console::ClockStep(known);
  const auto clock = [&](absl::Duration left, auto to_step) {
    const absl::Duration end = snapshot.at + left - absl::UnixEpoch();
    return absl::UnixEpoch() + (step > absl::Seconds(1) ? to_step(end, step) : end);
  };
  wire::EncodeTime(clock(known.remaining, absl::Floor), *words.mutable_ends_at());
  if (!known.has_range) return;
  wire::EncodeTime(clock(known.lower, absl::Floor), *words.mutable_ends_at_lower());
  wire::EncodeTime(clock(known.upper, absl::Ceil), *words.mutable_ends_at_upper());
  // Readers trust a time of day more than a duration.
  words.set_is_end_wide(console::IsGuess(snapshot) || !console::ForecastEnd(snapshot));
}

// Returns the duration of a stage, or of a job of a workflow, that has ended.
template <typename Part>
std::string TookText(const Part& part) {
  if (!part.started_at || !part.ended_at) return "";
  return console::ElapsedText(*part.ended_at - *part.started_at);
}

std::optional<Range> RangeOf(const v1::TaskProgress& task) {
  if (!task.has_remaining()) return std::nullopt;
  const auto length = [](const google::protobuf::Duration& duration) {
    return wire::ParseElapsed(duration, "").value_or(absl::ZeroDuration());
  };
  Range range = {.median = length(task.remaining().median())};
  if (task.remaining().has_lower()) range.lower = length(task.remaining().lower());
  if (task.remaining().has_upper()) range.upper = length(task.remaining().upper());
  return range;
}

bool IsUnspecified(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr == INADDR_ANY;
}

// Returns a host that readers of the page can reach, in brackets if it is an IPv6 address.
std::string UrlHostOf(const std::string& listen_address) {
  const auto addresses = transport::BindAddresses(listen_address);
  if (!addresses.ok() || !std::ranges::all_of(*addresses, IsUnspecified)) {
    return listen_address.substr(0, listen_address.rfind(':'));
  }
  char name[256] = {};
  const bool has_name = gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0';
  return has_name && transport::BindAddresses(fmt::format("{}:0", name)).ok() ? name : "127.0.0.1";
}

std::string Escaped(const std::string& id) {
  std::string escaped;
  for (const char letter : id) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("-_.~").find(letter) != std::string_view::npos;
    escaped += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return escaped;
}

void AddWebTaskWords(web::v1::TasksAnswer& answer) {
  for (const v1::TaskProgress& task : answer.list().tasks()) {
    const std::optional<Range> remaining = RangeOf(task);
    answer.add_remaining(remaining ? console::DescribeLeft(*remaining, kText).text() : "");
  }
  for (const v1::HeavyGroup& group : answer.list().heavy_groups()) {
    web::v1::HeavyGroupWords& words = *answer.add_heavy_groups();
    words.set_size(text::SizeText(group.size_bytes()));
    const absl::Duration time = wire::ParseElapsed(group.time(), "").value_or(absl::ZeroDuration());
    words.set_time(
        time < absl::Seconds(1)
            ? "< 1 s"
            : "≈ " + console::DurationText(
                         console::RoundToKnown(time, std::nullopt, std::nullopt).remaining));
    if (group.share() == 0) continue;  // unknown share
    words.set_share(group.share() < 0.01 ? "< 1 %" : fmt::format("{:.0f} %", 100 * group.share()));
  }
}

void AddWebExplanationWords(const v1::ExplainQuestion& question,
                            web::v1::ExplanationAnswer& answer) {
  const auto asked = wire::ParseQuestion(question);
  const absl::StatusOr<Explanation> explanation = wire::ParseExplanation(answer.explanation());
  if (!asked.ok() || !explanation.ok()) return;
  const console::WaitsWords words = console::DescribeWaits(*explanation, asked->second, kText);
  for (const console::Row& row : words.rows) {
    web::v1::QueryWaitsWords& added = *answer.add_queries();
    added.set_query(row[0]);
    added.set_lasted(row[1]);
    for (std::size_t i = 2; i < row.size(); ++i) added.add_waits(row[i]);
  }
  for (const std::string& heading : console::WaitHeadings()) answer.add_wait_headings(heading);
  for (const std::string& sentence : words.sentences) answer.add_sentences(sentence);
}

void AddWebContentionWords(web::v1::ContentionAnswer& answer) {
  const auto contention = wire::ParseContention(answer.contention());
  if (!contention.ok()) return;
  for (const std::string& sentence : console::ContentionSentences(*contention, kText)) {
    answer.add_sentences(sentence);
  }
  for (const console::ContentionTable& table : console::DescribeContention(*contention, kText)) {
    web::v1::ContentionTable& added = *answer.add_tables();
    added.set_kind(static_cast<v1::ContentionListKind>(static_cast<int>(table.kind) + 1));
    added.set_title(table.title);
    added.set_is_of_stages(console::IsOfStages(table.kind));
    for (const std::string& heading : table.headings) added.add_headings(heading);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      web::v1::ContentionCells& cells = *added.add_rows();
      cells.set_job_id(table.job_ids[i]);
      for (const std::string& cell : table.rows[i]) cells.add_cells(cell);
    }
  }
}

std::string WebSummaryOf(const Snapshot& ended, const absl::StatusOr<v1::Explanation>& waits) {
  const absl::StatusOr<Explanation> parsed =
      waits.ok() ? wire::ParseExplanation(*waits) : absl::StatusOr<Explanation>(waits.status());
  return console::TimeSpentText(ended, std::nullopt, parsed, kText);
}

web::v1::ComparisonAnswer WebComparisonOf(const Snapshot& before, const Snapshot& after) {
  const console::ComparedRun past = {.name = "The past run", .job = before, .waits = {}};
  const console::ComparedRun shown = {.name = "This run", .job = after, .waits = {}};
  const std::vector<console::ComparedValue> values = console::CompareRuns(past, shown);
  const console::ComparisonTable table = console::DescribeComparison(values, kText);
  web::v1::ComparisonAnswer answer;
  answer.set_sentence(console::ComparisonSentence(past, shown, values));
  answer.set_stages_left_out(static_cast<std::uint32_t>(table.stages_left_out));
  for (const console::Row& row : table.rows) {
    web::v1::ComparisonRow& added = *answer.add_rows();
    added.set_what(row[0]);
    added.set_before(row[1]);
    added.set_after(row[2]);
    added.set_difference(row[3]);
  }
  return answer;
}

}  // namespace

web::v1::JobWords WebWordsOf(const Snapshot& snapshot) {
  web::v1::JobWords words;
  const std::optional<Snapshot> headline = console::HeadlineOf(snapshot);
  const Snapshot& main = headline ? *headline : snapshot;
  const Estimate& estimate = main.estimate;
  if (headline) words.set_headline(console::JobTitle(main, kText));
  words.set_title(console::JobTitle(snapshot, kText));
  words.set_state(console::ListedState(snapshot));
  if (snapshot.started_at) words.set_elapsed(console::ElapsedText(snapshot));
  words.set_first_forecast(console::FirstForecastText(snapshot));
  words.set_throughput(console::ThroughputText(snapshot.throughput));
  const console::ShownProgress shown = console::ShownOf(main, estimate);
  const console::PercentWords percent = console::DescribePercent(shown, kText);
  words.set_percent(percent.number);
  words.set_percent_bounds(percent.bounds);
  words.set_shown_fraction(shown.fraction);
  words.set_shown_lower(shown.lower);
  words.set_shown_upper(shown.upper);
  words.set_has_percent(shown.has_number);
  const console::RemainingWords remaining = console::DescribeRemaining(main, estimate, kText);
  words.set_remaining(remaining.about);
  words.set_remaining_detail(remaining.joint + remaining.detail);
  if (shown.has_number) SetEnd(main, words);
  const console::DeadlineWords due = console::DescribeDeadline(snapshot);
  words.set_due_before(due.before);
  words.set_due_after(due.after);
  words.set_is_likely_late(console::IsLikelyLate(snapshot));
  words.set_step(console::CurrentStep(snapshot));
  words.set_method(console::MethodText(estimate, kText));
  words.set_straggler(console::StragglerRemark(main, kText));
  for (const std::string& warning : console::WarningTexts(snapshot, kText)) {
    words.add_warnings(warning);
  }
  if (snapshot.is_final) words.set_accuracy(AccuracyText(snapshot, estimate.indicator));
  const std::vector<std::string> names = console::StageNames(snapshot, kText);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const StageProgress& stage = snapshot.stages[i];
    web::v1::StageWords& added = *words.add_stages();
    added.mutable_id()->set_child(stage.id.child);
    added.mutable_id()->set_stage(stage.id.stage);
    added.set_name(names[i]);
    added.set_state(console::StageStateText(snapshot, stage, kText));
    added.set_took(TookText(stage));
  }
  if (!snapshot.children.empty()) {
    const std::vector<console::Part> parts = console::PartsOf(snapshot, kText);
    for (std::size_t i = 0; i < std::min(parts.size(), snapshot.children.size()); ++i) {
      web::v1::ChildWords& added = *words.add_children();
      added.set_number(snapshot.children[i].number);
      added.set_name(parts[i].name);
      added.set_state(parts[i].detail.empty() ? parts[i].state
                                              : parts[i].state + " " + parts[i].detail);
      added.set_percent(console::DescribePercent(parts[i].shown, kText).number);
      added.set_took(TookText(snapshot.children[i]));
    }
  }
  for (const Indicator& other : snapshot.indicators) {
    web::v1::IndicatorWords& added = *words.add_indicators();
    added.set_name(console::IndicatorName(other.estimate, kText));
    added.set_percent(console::PercentText(snapshot, other.estimate, kText));
    if (snapshot.is_final) {
      added.set_accuracy(AccuracyText(snapshot, other.estimate.indicator));
    } else {
      added.set_remaining(console::DescribeRemaining(snapshot, other.estimate, kText).text());
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

web::PageTexts WebTexts() {
  return {.words_of = &WebWordsOf,
          .add_task_words = &AddWebTaskWords,
          .add_explanation_words = &AddWebExplanationWords,
          .add_contention_words = &AddWebContentionWords,
          .summary_of = &WebSummaryOf,
          .comparison_of = &WebComparisonOf};
}

absl::StatusOr<std::unique_ptr<web::WebServer>> StartWeb(const ServeConfig& config,
                                                         const Master& master) {
  return web::WebServer::Start({.address = config.web_address,
                                .certificate_file = config.master.tls.certificate_file,
                                .key_file = config.master.tls.key_file,
                                .master = master.InProcessChannel(),
                                .has_tokens = !config.master.tokens_file.empty(),
                                .texts = WebTexts(),
                                .version = TIDEMARK_VERSION});
}

std::string WebUrl(const ServeConfig& config, const web::WebServer& server) {
  return fmt::format("{}://{}:{}/", config.master.tls.certificate_file.empty() ? "http" : "https",
                     UrlHostOf(config.web_address), server.port());
}

std::string PublicWebUrl(const ServeConfig& config, const web::WebServer& server) {
  if (config.page_url.empty()) return WebUrl(config, server);
  return config.page_url + (config.page_url.ends_with('/') ? "" : "/");
}

std::string JobPageUrl(const std::string& page_url, const std::string& job_id) {
  return fmt::format("{}{}#/jobs/{}", page_url, page_url.ends_with('/') ? "" : "/",
                     Escaped(job_id));
}

}  // namespace tidemark::serve
