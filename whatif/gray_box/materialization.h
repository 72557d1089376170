// Which intermediate results are worth keeping for others ([GB] section 6): points, benefit, cost
// to read, and reuse. What to keep in limited space is whatif/advise/choice.h's. Nothing is
// materialized here.
//
// Pure functions and values. Seconds and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::gray_box {

// Of a plan: what it does to the outputs of others.
struct Operator {
  std::string kind;                 // such as "filter", for ReuseChain
  std::vector<std::size_t> inputs;  // indexes; none: a source
  double seconds = 0;               // its own
  double records = 0;               // that come out
  double width = 0;                 // of one, bytes
};

// A place where a result could be kept: the output of an operator that is neither a source nor the
// end of the plan, whose outputs are kept anyway.
struct MaterializationPoint {
  std::size_t output_of = 0;  // index of the operator
  double total_seconds = 0;   // to compute it (eq. 9, 10)
  double read_seconds = 0;    // to read it (eq. 11)
  double bytes = 0;
  double benefit_seconds() const { return total_seconds - read_seconds; }  // eq. 8
};

// Eq. 9 and 10: of an operator and all that it waits for; of several inputs the slowest counts,
// since they are computed side by side. InvalidArgument: an unknown input, a cycle, a time that is
// negative or not finite. Cost: O(operators + edges), also of a plan that is one long chain.
absl::StatusOr<std::vector<double>> TotalSeconds(const std::vector<Operator>& plan);

// Eq. 11. REQUIRES: bytes_per_second > 0.
double ReadSeconds(double records, double width, double bytes_per_second);

// All points of a plan, in its order, whatever their benefit. Errors: as TotalSeconds(); a rate
// that is not above 0.
absl::StatusOr<std::vector<MaterializationPoint>> PointsOf(const std::vector<Operator>& plan,
                                                           double bytes_per_second);

// How likely an operator follows another, from plans that ran: a Markov chain.
class ReuseChain {
 public:
  void Add(const std::vector<Operator>& plan);
  // That a program which has come to `kind` goes on with `next`; 0 for what was never seen.
  double Probability(const std::string& kind, const std::string& next) const;
  // That a program computes the output of this operator: the product along its inputs, from the
  // share of plans that begin like its sources. REQUIRES: a plan without a cycle.
  double OfPrefix(const std::vector<Operator>& plan, std::size_t output_of) const;

 private:
  std::map<std::string, std::map<std::string, std::uint64_t>> followers_;
  std::map<std::string, std::uint64_t> out_of_;  // how often anything followed
  std::map<std::string, std::uint64_t> plans_with_source_;
  std::uint64_t plans_ = 0;
};

// A point with what is expected of it.
struct Candidate {
  MaterializationPoint point;
  double uses = 0;  // expected, such as in a week, or the probability of one
};

// Strategy MaxBenefit: the index of the point with the largest benefit; of equal ones the first.
// None has any: as many as there are candidates.
std::size_t MaxBenefit(const std::vector<Candidate>& candidates);

// Strategy Skyline: those that no other beats in both benefit and uses, by index. Points without a
// benefit are never among them.
std::vector<std::size_t> Skyline(const std::vector<Candidate>& candidates);

}  // namespace tidemark::gray_box
