// The natural join of two relations ([NF] 7.3). Input lines of R and S are "attribute rest".
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examples/local_mapreduce/jobs/all_jobs.h"
#include "examples/local_mapreduce/jobs/text.h"

namespace tidemark::examples {
namespace {

constexpr char kOfR = 'R';
constexpr char kOfS = 'S';

// Stores values contiguously, since separate strings would need millions of allocations.
class Tuples {
 public:
  void Clear() {
    bytes_.clear();
    ends_.clear();
  }
  void Add(std::string_view tuple) {
    bytes_ += tuple;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

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
    from_r_.Clear();
    from_s_.Clear();
    while (const auto value = values.Next()) {
      (value->front() == kOfR ? from_r_ : from_s_).Add(value->substr(1));
    }
    for (std::size_t r = 0; r < from_r_.size() && output.ok(); ++r) {
      for (std::size_t s = 0; s < from_s_.size(); ++s) {
        WriteTuple(key, from_r_[r], from_s_[s], output);
      }
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
  Tuples from_r_;
  Tuples from_s_;
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
