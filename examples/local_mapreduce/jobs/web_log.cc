// The jobs of a web log, whose visits are "IP PAGE SECONDS CENTS". Visits are filtered, then
// counted by page and in parallel summed by visitor, then joined (the DAG of [BOE] Figure 1).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

struct Visit {
  std::string_view ip;
  std::string_view page;
  std::uint64_t seconds = 0;
  std::uint64_t cents = 0;
};

std::optional<Visit> ParseVisit(std::string_view line) {
  Visit visit;
  visit.ip = NextField(line);
  visit.page = NextField(line);
  const auto seconds = ParseNumber(NextField(line));
  const auto cents = ParseNumber(NextField(line));
  if (visit.ip.empty() || visit.page.empty() || !seconds || !cents) return std::nullopt;
  visit.seconds = *seconds;
  visit.cents = *cents;
  return visit;
}

absl::Status NotAVisit() {
  return absl::InvalidArgumentError("a visit must have the form IP PAGE SECONDS CENTS");
}

std::uint64_t NumberOf(std::string_view text) { return ParseNumber(text).value_or(0); }

// Keeps visits of at least one second, and sorts them by page as "PAGE IP SECONDS CENTS".
class ParseVisits : public Job {
 public:
  using Job::Job;
  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    if (IsSkipped(line)) return absl::OkStatus();
    const std::optional<Visit> visit = ParseVisit(line);
    if (!visit) return NotAVisit();
    if (visit->seconds == 0) return absl::OkStatus();
    value_ = fmt::format("{} {} {}", visit->ip, visit->seconds, visit->cents);
    emitter.Emit(visit->page, value_);
    return absl::OkStatus();
  }
  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    while (const auto value = values.Next()) output.Write(key, *value);
    return absl::OkStatus();
  }

 private:
  std::string value_;
};

// Sums one field of the output of ParseVisits for each value of another field.
class SumByField : public Job {
 public:
  using Job::Job;
  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    const std::string_view page = NextField(line);
    const std::string_view ip = NextField(line);
    NextField(line);  // skips the seconds
    const std::string_view cents = NextField(line);
    if (!ParseNumber(cents)) {
      return absl::InvalidArgumentError("a page visit must have the form PAGE IP SECONDS CENTS");
    }
    Emit(page, ip, cents, emitter);
    return absl::OkStatus();
  }
  bool has_combiner() const override { return true; }
  absl::Status Combine(Values& values, std::string& combined) override {
    combined = fmt::to_string(Sum(values));
    return absl::OkStatus();
  }
  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    const fmt::format_int sum(Sum(values));
    output.Write(key, {sum.data(), sum.size()});
    return absl::OkStatus();
  }

 protected:
  virtual void Emit(std::string_view page, std::string_view ip, std::string_view cents,
                    Emitter& emitter) = 0;

 private:
  static std::uint64_t Sum(Values& values) {
    std::uint64_t sum = 0;
    while (const auto value = values.Next()) sum += NumberOf(*value);
    return sum;
  }
};

class CountByPage : public SumByField {
 public:
  using SumByField::SumByField;

 protected:
  void Emit(std::string_view page, std::string_view /*ip*/, std::string_view /*cents*/,
            Emitter& emitter) override {
    emitter.Emit(page, "1");
  }
};

class RevenueByVisitor : public SumByField {
 public:
  using SumByField::SumByField;

 protected:
  void Emit(std::string_view /*page*/, std::string_view ip, std::string_view cents,
            Emitter& emitter) override {
    emitter.Emit(ip, cents);
  }
};

// Reads counts "PAGE N" and revenues "IP CENTS". Counts the values of each kind by power of two.
class Histogram : public Job {
 public:
  using Job::Job;
  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    const std::string_view key = NextField(line);
    const auto number = ParseNumber(NextField(line));
    if (key.empty() || !number)
      return absl::InvalidArgumentError("a line must have the form NAME NUMBER");
    std::uint32_t power = 0;
    for (std::uint64_t rest = *number; rest > 1; rest /= 2) ++power;
    value_ = key.find('.') == std::string_view::npos ? "pages " : "visitors ";
    value_ += fmt::format("{:02}", power);
    emitter.Emit(value_, "1");
    return absl::OkStatus();
  }
  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    std::uint64_t count = 0;
    while (values.Next()) ++count;
    const fmt::format_int text(count);
    output.Write(key, {text.data(), text.size()});
    return absl::OkStatus();
  }

 private:
  std::string value_;
};

}  // namespace

JobDefinition ParseVisitsJob() {
  return {.name = "parse-visits",
          .description = "sorts visits (IP PAGE SECONDS CENTS) by page, drops visits of 0 seconds",
          .rounds = {MakeJob<ParseVisits>}};
}

JobDefinition CountByPageJob() {
  return {.name = "count-by-page",
          .description = "counts the output of parse-visits by page",
          .rounds = {MakeJob<CountByPage>}};
}

JobDefinition RevenueByVisitorJob() {
  return {.name = "revenue-by-visitor",
          .description = "sums the output of parse-visits by visitor",
          .rounds = {MakeJob<RevenueByVisitor>}};
}

JobDefinition VisitHistogramJob() {
  return {.name = "visit-histogram",
          .description = "counts pages by visits and visitors by cents",
          .rounds = {MakeJob<Histogram>}};
}

}  // namespace tidemark::examples
