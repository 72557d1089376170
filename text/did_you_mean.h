// What somebody meant who wrote a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::text {

// The name of `known` that the fewest edits (a letter more, less, changed, or swapped with the
// next) make of `word`; the first of equals. Empty when none is near: one edit is allowed for every
// three letters of the word, at least one, and never as many as it has letters. Cost: the product
// of both lengths for each name; a word of more than 64 letters is near to none.
std::string NearestName(std::string_view word, const std::vector<std::string>& known);

// "; did you mean NAME?", to be put behind a message about `word`; empty when none is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

// The same, but where none is near "; known: A, B, C": for a few names.
std::string DidYouMeanOrKnown(std::string_view word, const std::vector<std::string>& known);

// "A, B, C"; of more than ten the first ten and ", ...".
std::string FewNames(const std::vector<std::string>& names);

}  // namespace tidemark::text
