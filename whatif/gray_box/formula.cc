#include "whatif/gray_box/formula.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tidemark::gray_box {
namespace {

bool IsInName(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// Returns true if the x values of a table increase from pair to pair.
bool IsGrowing(const std::vector<double>& table) {
  for (std::size_t i = 3; i + 1 < table.size(); i += 2) {
    if (!(table[i] > table[i - 2])) return false;
  }
  return true;
}

// Returns the value at x of the line through pairs of x and y. REQUIRES: the x values increase.
double Interpolated(const std::vector<double>& table) {
  const double x = table[0];
  if (!(x > table[1])) return table[2];
  for (std::size_t i = 3; i + 1 < table.size(); i += 2) {
    if (x > table[i]) continue;
    const double share = (x - table[i - 2]) / (table[i] - table[i - 2]);
    return table[i - 1] + share * (table[i + 1] - table[i - 1]);
  }
  return table.back();
}

}  // namespace

// A recursive descent parser with a depth limit.
class FormulaParser {
 public:
  using Kind = Formula::Kind;
  explicit FormulaParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Formula> Parse() {
    if (text_.size() > Formula::kLengthMax) {
      return absl::InvalidArgumentError(absl::StrCat("a formula has at most ", Formula::kLengthMax,
                                                     " characters, not ", text_.size()));
    }
    if (absl::Status sum = Sum(0); !sum.ok()) return sum;
    Peek();
    if (at_ < text_.size()) return Expected("an operator");
    return std::move(formula_);
  }

 private:
  char Peek() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  absl::Status Expected(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("character ", at_ + 1, ": expected ", what));
  }
  void Add(Kind kind, std::size_t arguments) {
    formula_.steps_.push_back({.kind = kind, .arguments = arguments});
  }

  absl::Status Sum(int depth) {
    if (depth > Formula::kDepthMax) return Expected("fewer nested terms");
    if (absl::Status first = Product(depth); !first.ok()) return first;
    for (;;) {
      const char op = Peek();
      if (op != '+' && op != '-') return absl::OkStatus();
      ++at_;
      if (absl::Status next = Product(depth); !next.ok()) return next;
      Add(op == '+' ? Kind::kAdd : Kind::kSubtract, 2);
    }
  }

  absl::Status Product(int depth) {
    if (absl::Status first = Signed(depth); !first.ok()) return first;
    for (;;) {
      const char op = Peek();
      if (op != '*' && op != '/') return absl::OkStatus();
      ++at_;
      if (absl::Status next = Signed(depth); !next.ok()) return next;
      Add(op == '*' ? Kind::kMultiply : Kind::kDivide, 2);
    }
  }

  absl::Status Signed(int depth) {
    if (depth > Formula::kDepthMax) return Expected("fewer nested terms");
    if (!Take('-')) return Power(depth);
    if (absl::Status term = Signed(depth + 1); !term.ok()) return term;
    Add(Kind::kNegate, 1);
    return absl::OkStatus();
  }

  absl::Status Power(int depth) {
    if (absl::Status base = Term(depth); !base.ok()) return base;
    if (!Take('^')) return absl::OkStatus();
    if (absl::Status exponent = Signed(depth + 1); !exponent.ok()) return exponent;
    Add(Kind::kPower, 2);
    return absl::OkStatus();
  }

  absl::Status Term(int depth) {
    const char first = Peek();
    if (Take('(')) {
      if (absl::Status sum = Sum(depth + 1); !sum.ok()) return sum;
      return Take(')') ? absl::OkStatus() : Expected("')'");
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(first)) || first == '.') return Number();
    if (absl::ascii_isalpha(static_cast<unsigned char>(first)) || first == '_') return Name(depth);
    return Expected("a number, a name or '('");
  }

  absl::Status Number() {
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_exponent_sign =
          (c == '-' || c == '+') && at_ > start && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!IsInName(c) && !is_exponent_sign) break;
      ++at_;
    }
    double number = 0;
    if (!absl::SimpleAtod(text_.substr(start, at_ - start), &number) || !std::isfinite(number)) {
      at_ = start;
      return Expected("a number");
    }
    formula_.steps_.push_back({.kind = Kind::kNumber, .number = number});
    return absl::OkStatus();
  }

  absl::Status Name(int depth) {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsInName(text_[at_])) ++at_;
    std::string name(text_.substr(start, at_ - start));
    if (Peek() == '(') return Function(name, depth);
    formula_.steps_.push_back({.kind = Kind::kName, .name = std::move(name)});
    return absl::OkStatus();
  }

  absl::Status Function(const std::string& name, int depth) {
    constexpr std::pair<const char*, Kind> kFunctions[] = {{"log2", Kind::kLog2},
                                                           {"max", Kind::kMax},
                                                           {"min", Kind::kMin},
                                                           {"sqrt", Kind::kSqrt},
                                                           {"table", Kind::kTable}};
    const auto* const function = std::ranges::find(
        kFunctions, name, [](const auto& each) { return std::string(each.first); });
    if (function == std::end(kFunctions)) {
      return Expected("an operator; functions: log2, max, min, sqrt, table");
    }
    const Kind kind = function->second;
    Take('(');
    std::size_t arguments = 0;
    do {
      if (absl::Status argument = Sum(depth + 1); !argument.ok()) return argument;
      ++arguments;
    } while (Take(','));
    const bool is_of_one = kind == Kind::kLog2 || kind == Kind::kSqrt;
    if (is_of_one && arguments != 1) return Expected(absl::StrCat(name, "() of one number"));
    if (kind == Kind::kTable && (arguments < 3 || arguments % 2 == 0)) {
      return Expected("table(x, x1, y1, x2, y2, ...)");
    }
    if (!Take(')')) return Expected("',' or ')'");
    Add(kind, arguments);
    return absl::OkStatus();
  }

  absl::string_view text_;
  std::size_t at_ = 0;
  Formula formula_;
};

absl::StatusOr<Formula> Formula::Parse(absl::string_view text) {
  return FormulaParser(text).Parse();
}

double Formula::Applied(Kind kind, const std::vector<double>& arguments) {
  const double first = arguments.front();
  const double last = arguments.back();
  switch (kind) {
    case Kind::kAdd:
      return first + last;
    case Kind::kSubtract:
      return first - last;
    case Kind::kMultiply:
      return first * last;
    case Kind::kDivide:
      return first / last;
    case Kind::kPower:
      return std::pow(first, last);
    case Kind::kNegate:
      return -first;
    case Kind::kMin:
      return *std::ranges::min_element(arguments);
    case Kind::kMax:
      return *std::ranges::max_element(arguments);
    case Kind::kLog2:
      return std::log2(first);
    case Kind::kSqrt:
      return std::sqrt(first);
    case Kind::kTable:
      return Interpolated(arguments);
    case Kind::kNumber:
    case Kind::kName:
      break;
  }
  return first;
}

absl::StatusOr<double> Formula::Value(
    absl::FunctionRef<absl::StatusOr<double>(const std::string&)> value_of) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    double value = step.number;
    if (step.kind == Kind::kName) {
      const absl::StatusOr<double> named = value_of(step.name);
      if (!named.ok()) return named;
      value = *named;
    } else if (step.kind != Kind::kNumber) {
      const auto first = stack.end() - static_cast<std::ptrdiff_t>(step.arguments);
      const std::vector<double> arguments(first, stack.end());
      stack.erase(first, stack.end());
      if (step.kind == Kind::kTable && !IsGrowing(arguments)) {
        return absl::InvalidArgumentError(
            "x1, x2, ... of table(x, x1, y1, x2, y2, ...) must increase");
      }
      value = Applied(step.kind, arguments);
    }
    // Later steps could hide the error: min() and max() ignore some values, and x / infinity is 0.
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError("the value is not a finite number");
    }
    stack.push_back(value);
  }
  if (stack.empty()) return absl::InvalidArgumentError("the formula is empty");
  return stack.back();
}

}  // namespace tidemark::gray_box
