// What a program was told to do, as numbers.
//
// A parameter whose values are all numbers is one feature, by its name. Any other is a list of
// words with commas between them: how many there are, and for each word whether it is there. So
// "letters=a,f,h" gives `letters.count` and `letters.a`, `letters.f`, `letters.h`. What was the
// same in all runs is a feature, too: a run in which it differs has to know that.
//
// Whether a parameter is one of a condition, of a selection of fields, or of the workflow
// ([GB] 4.1) is not told but found: by what it changes, the number of records, their width, or how
// often a stage runs. Pure values.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tidemark::gray_box {

using Parameters = std::map<std::string, std::string>;

// Words of one parameter that become features; the most frequent ones of more.
inline constexpr std::size_t kWordsMax = 64;

class Features {
 public:
  // By the parameters of earlier runs.
  explicit Features(std::span<const Parameters> runs);

  const std::vector<std::string>& names() const { return names_; }
  // What earlier runs were told, by name; a list of words once.
  std::vector<std::string> Told() const;
  // In the order of the names. Parameters that are not said count as in the last of the runs, and
  // a word for a number, too.
  std::vector<double> ValuesOf(const Parameters& parameters) const;
  // Parameters that no earlier run had, and words that none of them had: what they do is not known.
  std::vector<std::string> Unknown(const Parameters& parameters) const;
  // Parameters that all earlier runs had as numbers, and whose values here are no finite numbers.
  std::vector<std::string> NoNumbers(const Parameters& parameters) const;

 private:
  struct Parameter {
    bool is_number = false;
    std::string last;                // of the runs
    std::vector<std::string> words;  // that are features
  };
  std::map<std::string, Parameter> parameters_;
  std::vector<std::string> names_;
};

}  // namespace tidemark::gray_box
