// A formula of named numbers: the white box of a user who knows the operators of a program ([GB]
// 5.1), such as the share of words that a filter keeps.
//
//     1 - 0.1168 * letters.a - 0.0403 * letters.f
//     table(k, 10, 0.2, 50, 0.8)
//
// Operators: + - * / ^ and parentheses. Functions: min, max, log2, sqrt, and table, which
// interpolates between pairs of x and y with increasing x, and is constant outside them. Names
// consist of letters, digits, dots and underscores.
//
// Pure, and thread-safe when const.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tidemark::gray_box {

class Formula {
 public:
  static constexpr std::size_t kLengthMax = 4096;
  static constexpr int kDepthMax = 64;  // depth of nested parentheses, functions, signs and powers

  // Fails with InvalidArgument, which names the position and the expected form.
  static absl::StatusOr<Formula> Parse(absl::string_view text);

  // Returns the value of the formula. `value_of` returns the number for a name, or an error, which
  // Value() returns. Fails with InvalidArgument if any step is not a finite number, or if the x
  // values of a table do not increase.
  absl::StatusOr<double> Value(
      absl::FunctionRef<absl::StatusOr<double>(const std::string&)> value_of) const;

 private:
  friend class FormulaParser;
  enum class Kind : std::uint8_t {
    kNumber,
    kName,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kPower,
    kNegate,
    kMin,
    kMax,
    kLog2,
    kSqrt,
    kTable
  };
  // In reverse Polish notation. A step replaces its arguments by its value.
  struct Step {
    Kind kind = Kind::kNumber;
    double number = 0;          // kNumber
    std::string name;           // kName
    std::size_t arguments = 0;  // number of arguments of an operator or function
  };
  static double Applied(Kind kind, const std::vector<double>& arguments);

  std::vector<Step> steps_;
};

}  // namespace tidemark::gray_box
