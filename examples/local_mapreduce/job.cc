#include "examples/local_mapreduce/job.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "fmt/format.h"
#include "text/did_you_mean.h"
#include "xxhash.h"

namespace tidemark::examples {
namespace {

template <typename T>
absl::StatusOr<T> NumberBetween(const JobContext& context, const std::string& name, T min, T max) {
  const std::string& text = context.parameters.at(name);
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole_text = error == std::errc() && end == text.data() + text.size();
  if (whole_text && number >= min && number <= max) return number;
  return absl::InvalidArgumentError(
      fmt::format("parameter {} must be a number from {} to {}, not {}", name, min, max, text));
}

}  // namespace

std::uint32_t HashPartition(std::string_view key, std::uint32_t partition_count) {
  return static_cast<std::uint32_t>(XXH64(key.data(), key.size(), 0) % partition_count);
}

absl::StatusOr<const JobDefinition*> FindJob(const std::string& name) {
  for (const JobDefinition& job : AllJobs()) {
    if (job.name == name) return &job;
  }
  return absl::NotFoundError(
      fmt::format("unknown job {}{}", name, text::DidYouMeanOrKnown(name, JobNames())));
}

absl::StatusOr<std::map<std::string, std::string>> CompleteParameters(
    const JobDefinition& job, const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> complete;
  for (const JobParameter& parameter : job.parameters) {
    complete[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : given) {
    const auto known = complete.find(name);
    if (known == complete.end()) {
      std::vector<std::string> names;
      for (const JobParameter& parameter : job.parameters) names.push_back(parameter.name);
      return absl::InvalidArgumentError(fmt::format("unknown parameter {} of {}{}", name, job.name,
                                                    text::DidYouMeanOrKnown(name, names)));
    }
    known->second = value;
  }
  return complete;
}

absl::StatusOr<std::uint64_t> WholeNumber(const JobContext& context, const std::string& name,
                                          std::uint64_t min, std::uint64_t max) {
  return NumberBetween(context, name, min, max);
}

absl::StatusOr<double> RealNumber(const JobContext& context, const std::string& name, double min,
                                  double max) {
  return NumberBetween(context, name, min, max);
}

std::vector<std::string> JobNames() {
  std::vector<std::string> names;
  for (const JobDefinition& job : AllJobs()) names.push_back(job.name);
  return names;
}

std::string DescribeJob(const std::string& job) {
  const absl::StatusOr<const JobDefinition*> definition = FindJob(job);
  if (!definition.ok()) return "";
  const std::size_t least = (*definition)->inputs_min;
  const std::size_t most = (*definition)->inputs_max;
  const std::string inputs = most == 0 ? "no input"
                             : least == most
                                 ? fmt::format("{} input file{}", least, least == 1 ? "" : "s")
                             : most < SIZE_MAX ? fmt::format("{} to {} input files", least, most)
                                               : "input files";
  std::string text = fmt::format("{}; {}\n", (*definition)->description, inputs);
  for (const JobParameter& parameter : (*definition)->parameters) {
    text +=
        fmt::format("{}={}  {}\n", parameter.name, parameter.default_value, parameter.description);
  }
  return text;
}

const std::vector<JobDefinition>& AllJobs() {
  static const std::vector<JobDefinition> jobs = {
      WordCountJob(),        WordCountWithoutCombinerJob(),
      InvertedIndexJob(),    TwoPathJob(),
      TriangleCountJob(),    NaturalJoinJob(),
      MatMultOptJob(),       MatMultRndJob(),
      MatMultUnbalJob(),     SyntheticJob(),
      ParseVisitsJob(),      CountByPageJob(),
      RevenueByVisitorJob(), VisitHistogramJob(),
  };
  return jobs;
}

}  // namespace tidemark::examples
