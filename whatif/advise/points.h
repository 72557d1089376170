// Results of a history: where they are computed, and what keeping one would save.
//
// Pure values and functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "whatif/advise/history.h"
#include "whatif/advise/prefix_cost.h"
#include "whatif/advise/range.h"

namespace tidemark::advise {

// An operator of a plan that gives it.
struct Occurrence {
  std::size_t plan = 0;    // of the history
  std::size_t op = 0;      // of its normal form
  std::uint64_t data = 0;  // as DataOf()
  PrefixCost cost;
  std::optional<double> records;
  std::optional<double> bytes;  // at most
  bool is_first = false;        // of its data: it computes and writes
  Range benefit;                // eq. 8, seconds
};

struct Point {
  std::uint64_t signature = 0;
  std::vector<Occurrence> uses;  // by time, one of a plan
  std::optional<double> bytes;   // of the largest; empty: not all are told
  double records = 0;
  double read_seconds = 0;
  double write_seconds = 0;
  std::size_t data = 0;  // so many different ones
  Range saved;           // in the history, after writing; seconds
  std::string bar;       // why it is not to be kept; empty: it may be
};

struct Points {
  std::vector<Point> all;    // by what they are sure to save, the most first
  std::size_t left_out = 0;  // beyond kPointsMax
  std::size_t untimed = 0;   // operators no stage of which is timed
};

// Of results, the best; others are counted.
inline constexpr std::size_t kPointsMax = 500;

// `read_rate`: of eq. 11, bytes a second.
Points PointsOf(const History& history, double read_rate);

}  // namespace tidemark::advise
