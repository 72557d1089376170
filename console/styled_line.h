// One line of a screen in pieces of different colours, measured in columns.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tidemark::console {

enum class Style { kPlain, kStrong, kDim, kBar, kGood, kWarning, kBad };

// How text may look.
struct TextOptions {
  bool color = false;    // ANSI colours
  bool unicode = false;  // beyond ASCII
  // In which instants are told; null: UTC. Outlives the options.
  const absl::TimeZone* zone = nullptr;
};

// `text` in the colours of `style`, which end with it.
std::string Styled(Style style, const std::string& text);

class StyledLine {
 public:
  // `text` is Printable(). Empty text adds nothing.
  StyledLine& Add(Style style, const std::string& text);
  int columns() const { return columns_; }
  bool empty() const { return pieces_.empty(); }
  // In at most `width` columns, clipped with an ellipsis.
  std::string Render(int width, const TextOptions& options) const;

 private:
  struct Piece {
    Style style;
    std::string text;
  };
  std::vector<Piece> pieces_;
  int columns_ = 0;
};

}  // namespace tidemark::console
