// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::text {

// Returns the name in `known` with the fewest edits from `word`, the first of several. An edit
// adds, removes or changes a letter, or swaps two neighbours. Returns an empty text if no name is
// near, or if the word has more than 64 letters. The limit is one edit for every three letters of
// the word, at least one, and fewer than its letters. Cost: the product of both lengths for each
// name.
std::string NearestName(std::string_view word, const std::vector<std::string>& known);

// Returns "; did you mean NAME?", to append to a message about `word`. Empty if no name is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

// Returns DidYouMean(), or "; known: A, B, C" if no name is near. For short lists.
std::string DidYouMeanOrKnown(std::string_view word, const std::vector<std::string>& known);

// Returns "A, B, C"; beyond ten names the first ten and ", ...".
std::string FewNames(const std::vector<std::string>& names);

}  // namespace tidemark::text
