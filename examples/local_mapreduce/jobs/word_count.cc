// Counts words ([NF] 7.3) with a linear reduce function, with and without a combiner.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

std::uint64_t Sum(Values& values) {
  std::uint64_t sum = 0;
  while (const auto value = values.Next()) {
    std::uint64_t count = 0;
    std::from_chars(value->data(), value->data() + value->size(), count);
    sum += count;
  }
  return sum;
}

class WordCount : public Job {
 public:
  using Job::Job;
  absl::Status Map(std::string_view line, const LineOrigin& /*origin*/, Emitter& emitter) override {
    while (NextWord(line, word_)) emitter.Emit(word_, "1");
    return absl::OkStatus();
  }
  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    const fmt::format_int sum(Sum(values));
    output.Write(key, {sum.data(), sum.size()});
    return absl::OkStatus();
  }

 private:
  std::string word_;
};

class WordCountWithCombiner : public WordCount {
 public:
  using WordCount::WordCount;
  bool has_combiner() const override { return true; }
  absl::Status Combine(Values& values, std::string& combined) override {
    const fmt::format_int sum(Sum(values));
    combined.assign(sum.data(), sum.size());
    return absl::OkStatus();
  }
};

}  // namespace

JobDefinition WordCountJob() {
  return {.name = "word-count",
          .description = "counts words, with a combiner",
          .rounds = {MakeJob<WordCountWithCombiner>}};
}

JobDefinition WordCountWithoutCombinerJob() {
  return {.name = "word-count-nc",
          .description = "counts words, without a combiner",
          .rounds = {MakeJob<WordCount>}};
}

}  // namespace tidemark::examples
