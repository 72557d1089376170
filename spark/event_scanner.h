// Splits the text of an event log into events, and keeps the members of each event that readers
// use.
//
// A log is a sequence of JSON objects. Spark writes one per line, but an object ends at its last
// brace, wherever lines end. The scanner keeps members at any depth by name, and only the beginning
// of long strings. A plan of 100 MB shrinks to a few kilobytes. Memory is bounded for any text.
//
// The scanner supports only the parts of JSON that this requires; a parser reads the kept text. A
// number that JSON does not allow, such as NaN, becomes null. Not thread-safe.
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
  // Longest kept string, in bytes.
  static constexpr std::size_t kStringMax = 4096;
  // Largest kept event, in bytes. A job of 20,000 stages with five RDDs each takes 13 MB. Larger
  // events are counted and dropped.
  static constexpr std::size_t kEventMax = std::size_t{16} << 20;
  // Largest number of values in an event, since a parser needs about 100 bytes for each. A job of
  // 20,000 stages with five RDDs each has 560,000.
  static constexpr std::size_t kValuesMax = 1'000'000;
  // Deeper values become null. SQL plans nest deepest, with two levels per operator.
  static constexpr std::size_t kDepthMax = 1000;

  // The kept parts of events.
  struct Kept {
    const absl::flat_hash_set<std::string_view>* names = nullptr;  // names of the kept members
    std::size_t operator_max = 0;   // longest description of an operator, bytes
    std::size_t depth_max = 0;      // levels of nesting
    bool keeps_properties = false;  // whether all of "Spark Properties" is kept
  };
  // Keeps the facts for progress, waits and models.
  static Kept ForProgress();
  // Keeps the facts for progress and all Spark properties.
  static Kept ForSettings();
  // Keeps the facts for progress, and whole plans of up to 5,000 operators with their counters.
  static Kept ForPlans();
  explicit EventScanner(const Kept& kept = ForProgress()) : kept_of_(kept) {}

  // Passes each complete event to `take` as a JSON object, in the order of the log.
  using Take = absl::FunctionRef<void(std::string_view event)>;
  void Feed(std::string_view text, Take take);
  // Ends a file of a log that continues in another file. An event that the file breaks off counts
  // as broken; the next file begins with a new event.
  void EndFile();

  // Returns true if the text so far ends inside an event.
  bool is_inside() const { return !stack_.empty(); }
  // Returns the number of events that broke off before the next event or file, or are not JSON.
  std::uint64_t broken_events() const { return broken_; }
  // Returns the number of events that exceeded kEventMax or kValuesMax.
  std::uint64_t oversized_events() const { return oversized_; }
  // Returns the number of events that began in the text and were not passed on.
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
  std::string text_;         // the kept part of the event
  std::string key_;          // the name of the next value
  std::string scalar_;       // the number or word so far
  std::vector<char> stack_;  // closing brackets of the open objects and arrays that are kept
  std::size_t dropped_ = 0;  // depth inside of a dropped value
  std::size_t kept_ = 0;     // bytes of the string so far
  std::size_t values_ = 0;   // kept values of the event
  // depth of the object whose members may have any name; 0 outside it
  std::size_t properties_at_ = 0;
  StringUse string_ = StringUse::kNone;
  std::uint8_t escape_ = 0;  // remaining characters of an escape
  bool keeps_escape_ = false;
  bool is_key_next_ = false;
  bool drops_value_ = false;
  bool is_line_new_ = false;
  bool is_lost_ = false;  // whether text is dropped up to the next line
  bool is_oversized_ = false;
  std::uint64_t broken_ = 0;
  std::uint64_t cut_ = 0;  // broken-off events, included in broken_
  std::uint64_t oversized_ = 0;
};

}  // namespace tidemark::spark
