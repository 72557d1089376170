// The natural join of two relations ([NF] 7.3): lines "attribute rest" of R and S.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"

namespace tidemark::examples {
namespace {

constexpr char kOfR = 'R';
constexpr char kOfS = 'S';

class NaturalJoin : public Job {
 public:
  using Job::Job;

  absl::Status Map(std::string_view line, const LineOrigin& origin, Emitter& emitter) override {
    if (IsSkipped(line)) return absl::OkStatus();
    const std::string_view key = NextField(line);
    value_ = origin.input == 0 ? kOfR : kOfS;
    if (!line.empty()) value_ += line.substr(1);
    emitter.Emit(key, value_);
    return absl::OkStatus();
  }

  absl::Status Reduce(std::string_view key, Values& values, Output& output) override {
    std::vector<std::string> from_r;
    std::vector<std::string> from_s;
    while (const auto value = values.Next()) {
      (value->front() == kOfR ? from_r : from_s).emplace_back(value->substr(1));
    }
    for (const std::string& r : from_r) {
      if (!output.ok()) break;
      for (const std::string& s : from_s) WriteTuple(key, r, s, output);
    }
    return absl::OkStatus();
  }

 private:
  static void WriteTuple(std::string_view key, std::string_view r, std::string_view s,
                         Output& output) {
    char* at = output.Reserve(key.size() + r.size() + s.size() + 3);
    at = Output::Put(at, key);
    *at++ = '\t';
    at = Output::Put(at, r);
    *at++ = ' ';
    at = Output::Put(at, s);
    *at++ = '\n';
    output.Commit(at);
  }

  std::string value_;
};

}  // namespace

JobDefinition NaturalJoinJob() {
  return {.name = "natural-join",
          .description = "joins the lines of two files by their first field",
          .inputs_min = 2,
          .inputs_max = 2,
          .rounds = {MakeJob<NaturalJoin>}};
}

}  // namespace tidemark::examples
