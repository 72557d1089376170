// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::text {

// Returns the name in `known` with the fewest edits from `word`, or the first of several. An edit
// adds, removes or changes a letter, or swaps two neighbours. A name is near if it needs at most
// one edit for every three letters of the word; at least one edit is allowed, but fewer than the
// word has letters. Returns an empty string if no name is near, or if the word has more than 64
// letters. O(length of `word` x total length of `known`).
std::string NearestName(std::string_view word, const std::vector<std::string>& known);

// Returns "; did you mean NAME?", to append to a message about `word`. Returns an empty string if
// no name is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

// Returns DidYouMean(), or "; known: A, B, C" if no name is near. Intended for short lists.
std::string DidYouMeanOrKnown(std::string_view word, const std::vector<std::string>& known);

// Returns "A, B, C". If there are more than ten names, returns the first ten and ", ...".
std::string FewNames(const std::vector<std::string>& names);

}  // namespace tidemark::text
