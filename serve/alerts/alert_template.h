// A text of an alert in the words of those who read it: "{job} is late: {cause}". Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tidemark::cli {

// What stands in braces, in the order of kAlertFieldNames.
enum class AlertField : std::uint8_t {
  kJob,
  kId,
  kUser,
  kQueue,
  kKind,
  kCause,
  kState,
  kDone,
  kLeft,
  kBasis,
  kEnd,
  kDeadline,
  kProbability,
  kElapsed,
  kMessage,
  kPage,
};
inline constexpr std::array<std::string_view, 16> kAlertFieldNames = {
    "job",  "id",    "user", "queue",    "kind",        "cause",   "state",   "done",
    "left", "basis", "end",  "deadline", "probability", "elapsed", "message", "page"};

class AlertTemplate {
 public:
  static constexpr std::size_t kBytesMax = 500;

  // {{ and }} stand for a brace. InvalidArgument, with nothing but what is wrong and what was
  // meant: a field that does not exist, a brace alone, nothing at all, or too long.
  static absl::StatusOr<AlertTemplate> Parse(std::string_view text);

  // `value_of` gives the text of a field; what it gives is not looked at for fields again.
  template <typename ValueOf>
  std::string Fill(ValueOf value_of) const {
    std::string filled;
    for (const Piece& piece : pieces_) {
      filled += piece.is_field ? value_of(piece.field) : piece.text;
    }
    return filled;
  }
  // As it was given.
  const std::string& text() const { return text_; }

 private:
  struct Piece {
    bool is_field = false;
    AlertField field = AlertField::kJob;
    std::string text;
  };
  explicit AlertTemplate(std::string_view text) : text_(text) {}

  std::string text_;
  std::vector<Piece> pieces_;
};

}  // namespace tidemark::cli
