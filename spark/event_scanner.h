// Cuts the text of an event log into events, and out of each what is of use here.
//
// A log is a row of JSON objects. Spark writes one a line, but nothing here depends on lines: an
// object ends with its last brace. Of the members of objects, at any depth, only those whose names
// Spark gives to facts of use are kept, and of long strings the beginning: what remains of a plan
// of 100 MB is a few kilobytes. So memory is bounded whatever the text holds.
//
// Knows only as much of JSON as that takes; a parser reads what remains. A number that is none in
// JSON, such as NaN, becomes null: the others of the event stand. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"

namespace tidemark::spark {

class EventScanner {
 public:
  // Of a string. bytes
  static constexpr std::size_t kStringMax = 4096;
  // Of an event: a job of 20,000 stages of five RDDs takes 13 MB. What is larger is counted and
  // left out. bytes
  static constexpr std::size_t kEventMax = std::size_t{16} << 20;
  // And this many values, since a parser takes about 100 bytes for each: that job has 560,000.
  static constexpr std::size_t kValuesMax = 1'000'000;
  // What is nested deeper becomes null. Plans of SQL are the deepest: two levels an operator.
  static constexpr std::size_t kDepthMax = 1000;

  // What is kept of events.
  struct Kept {
    const absl::flat_hash_set<std::string_view>* names = nullptr;  // of members
    std::size_t operator_max = 0;  // of what an operator does, bytes
    std::size_t depth_max = 0;
  };
  // For progress, blame and settings.
  static Kept ForProgress();
  // For what plans say of their operators, whole, and what these counted. Plans of 5,000 operators.
  static Kept ForPlans();
  explicit EventScanner(const Kept& kept = ForProgress()) : kept_of_(kept) {}

  // Gets each event that is complete as a JSON object, in the order of the log.
  using Take = absl::FunctionRef<void(std::string_view event)>;
  void Feed(std::string_view text, Take take);
  // Ends a file of a log that continues in another file. An event that the file breaks off counts
  // as broken; the next file begins with a new event.
  void EndFile();

  // Returns whether the text so far ends inside an event.
  bool is_inside() const { return !stack_.empty(); }
  // Events that broke off before the next one or the next file, or were not valid JSON.
  std::uint64_t broken_events() const { return broken_; }
  // Events of more than kEventMax or kValuesMax.
  std::uint64_t oversized_events() const { return oversized_; }
  // Events that the text began and that were not taken.
  std::uint64_t lost_events() const { return cut_ + oversized_; }

 private:
  enum class StringUse : std::uint8_t { kNone, kKey, kValue, kDropped };

  const char* InString(const char* at, const char* end);
  void Outside(char c, Take take);
  void BeginString();
  void EndString();
  void EndScalar();
  void Open(char c);
  void Close(char c, Take take);
  void BeginItem();
  void BeginValue();
  void Keep(std::string_view text);
  void Reset();
  void Cut();
  bool is_dropping() const { return drops_value_ || dropped_ > 0; }

  Kept kept_of_;
  std::string text_;         // what is kept of the event
  std::string key_;          // the name of the next value
  std::string scalar_;       // a number or a word, as far as it has come
  std::vector<char> stack_;  // open objects and arrays that are kept, by their closing brackets
  std::size_t dropped_ = 0;  // open objects and arrays inside of a value that is not kept
  std::size_t kept_ = 0;     // of the string
  std::size_t values_ = 0;   // that are kept
  StringUse string_ = StringUse::kNone;
  std::uint8_t escape_ = 0;  // characters left of one
  bool keeps_escape_ = false;
  bool is_key_next_ = false;
  bool drops_value_ = false;
  bool is_line_new_ = false;
  bool is_lost_ = false;  // until the next line
  bool is_oversized_ = false;
  std::uint64_t broken_ = 0;
  std::uint64_t cut_ = 0;  // of these: events that broke off
  std::uint64_t oversized_ = 0;
};

}  // namespace tidemark::spark
