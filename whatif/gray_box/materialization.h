// Materialization of intermediate results ([GB] section 6): points, benefit, cost of reading, and
// reuse. whatif/advise/points.h chooses among points if space is limited.
//
// Values and pure functions. Times are in seconds, sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::gray_box {

// An operator of a plan.
struct Operator {
  std::string kind;                 // kind for ReuseChain, such as "filter"
  std::vector<std::size_t> inputs;  // indexes; empty for a source
  double seconds = 0;               // excludes its inputs
  double records = 0;               // output records
  double width = 0;                 // bytes per record
};

// A result that can be kept: the output of an operator that is neither a source nor the end of the
// plan. The outputs of sources and ends are always kept.
struct MaterializationPoint {
  std::size_t output_of = 0;  // index of the operator
  double total_seconds = 0;   // time to compute it (eq. 9, 10)
  double read_seconds = 0;    // time to read it (eq. 11)
  double bytes = 0;
  double benefit_seconds() const { return total_seconds - read_seconds; }  // eq. 8
};

// Eq. 9 and 10: returns the time of each operator including all its inputs. Only the slowest of
// several inputs counts, since they are computed in parallel. Fails with InvalidArgument for an
// unknown input, a cycle, or a time that is negative or not finite. O(operators + edges), also for
// one long chain.
absl::StatusOr<std::vector<double>> TotalSeconds(const std::vector<Operator>& plan);

// Eq. 11. REQUIRES: bytes_per_second > 0.
double ReadSeconds(double records, double width, double bytes_per_second);

// The probability that an operator follows another one, estimated from past plans: a Markov chain.
class ReuseChain {
 public:
  void Add(const std::vector<Operator>& plan);
  // Returns the probability that a program continues with `next` after `kind`, or 0 if it never
  // did.
  double Probability(const std::string& kind, const std::string& next) const;
  // Returns the probability that a program computes the output of this operator: the product along
  // its inputs, times the share of plans with its sources. REQUIRES: the plan has no cycle.
  double OfPrefix(const std::vector<Operator>& plan, std::size_t output_of) const;

 private:
  std::map<std::string, std::map<std::string, std::uint64_t>> followers_;
  std::map<std::string, std::uint64_t> out_of_;  // number of followers
  std::map<std::string, std::uint64_t> plans_with_source_;
  std::uint64_t plans_ = 0;
};

// A point with its expected uses.
struct Candidate {
  MaterializationPoint point;
  double uses = 0;  // expected number of uses, such as per week, or a probability
};

// Strategy MaxBenefit: returns the index of the point with the largest benefit, or the first of
// several. Returns the number of candidates if none has a benefit.
std::size_t MaxBenefit(const std::vector<Candidate>& candidates);

// Strategy Skyline: returns the indexes of points that no other point exceeds in both benefit and
// uses. Omits points without a benefit.
std::vector<std::size_t> Skyline(const std::vector<Candidate>& candidates);

}  // namespace tidemark::gray_box
