#include "text/did_you_mean.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_join.h"

namespace tidemark::text {
namespace {

// Longer words are not misspelt names.
constexpr std::size_t kWordMax = 64;
constexpr std::size_t kLettersPerEdit = 3;
constexpr std::size_t kFew = 10;

// Returns the optimal string alignment distance: Levenshtein distance with swaps of neighbours.
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::vector<std::size_t> next(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] =
          std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before.swap(row);
    row.swap(next);
  }
  return row.back();
}

}  // namespace

std::string NearestName(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kWordMax) return "";
  std::string nearest;
  const std::size_t edits_max = std::max<std::size_t>(word.size() / kLettersPerEdit, 1);
  std::size_t edits_min = std::min(edits_max + 1, word.size());
  for (const std::string& name : known) {
    if (name.size() > kWordMax) continue;
    const std::size_t edits = Edits(word, name);
    if (edits >= edits_min) continue;
    edits_min = edits;
    nearest = name;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(word, known);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::string DidYouMeanOrKnown(std::string_view word, const std::vector<std::string>& known) {
  if (std::string meant = DidYouMean(word, known); !meant.empty()) return meant;
  return "; known: " + (known.empty() ? "none" : absl::StrJoin(known, ", "));
}

std::string FewNames(const std::vector<std::string>& names) {
  if (names.size() <= kFew) return absl::StrJoin(names, ", ");
  return absl::StrJoin(names.begin(), names.begin() + kFew, ", ") + ", ...";
}

}  // namespace tidemark::text
