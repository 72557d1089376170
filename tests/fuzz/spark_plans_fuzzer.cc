// Fuzzes the plans in Spark event logs with any content. The input has the same form as text for
// spark_log_fuzzer. Aborts if the plans differ when the same text is passed byte by byte, or if
// advice may cost time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "spark/executed_plans.h"
#include "spark/log_reader.h"
#include "tests/fuzz/fuzz_input.h"
#include "whatif/advise/advice.h"

namespace {

using tidemark::advise::PastPlan;

std::vector<PastPlan> Read(std::string_view text, std::size_t piece) {
  tidemark::spark::ExecutedPlans plans;
  tidemark::spark::LogParser parser({.plans = &plans});
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    parser.Feed(text.substr(0, piece), [](const tidemark::Event&) {});
  }
  return plans.Finish();
}

bool IsSame(const std::vector<PastPlan>& some, const std::vector<PastPlan>& others) {
  if (some.size() != others.size()) return false;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i].execution != others[i].execution ||
        some[i].operators.size() != others[i].operators.size() ||
        some[i].stages.size() != others[i].stages.size()) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string text;
  if (data[0] % 2 == 1) {
    text = tidemark::fuzz::LinesOf(data + 1, size - 1);
  } else {
    text.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  }
  std::vector<PastPlan> plans = Read(text, text.size());
  if (!IsSame(plans, Read(text, 1))) std::abort();
  // Passes the same plans twice, so that they share most results.
  const std::vector<PastPlan> again = plans;
  plans.insert(plans.end(), again.begin(), again.end());
  const auto advice = tidemark::advise::Advise(plans, {});
  if (!advice.ok()) return 0;
  for (const auto& point : advice->points) {
    if (point.is_advised && !(point.saved_per_week.lower > 0)) std::abort();
    if (!point.is_advised && point.why_not.empty()) std::abort();
  }
  return 0;
}
