#include "console/styled_line.h"

#include "console/text.h"

namespace tidemark::console {
namespace {

// Colours of the user's own palette, so that they can be read on any background.
const char* Code(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kStrong:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kBar:
      return "\x1b[36m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kWarning:
      return "\x1b[33m";
    case Style::kBad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::string Styled(Style style, const std::string& text) {
  const std::string code = Code(style);
  return code.empty() || text.empty() ? text : code + text + "\x1b[0m";
}

StyledLine& StyledLine::Add(Style style, const std::string& text) {
  if (text.empty()) return *this;
  pieces_.push_back({style, text});
  columns_ += Columns(text);
  return *this;
}

std::string StyledLine::Render(int width, const TextOptions& options) const {
  std::string line;
  int left = width;
  bool clips = columns_ > width;
  for (const Piece& piece : pieces_) {
    if (left <= 0) break;
    // A piece that just fills a line that goes on must still give way to the ellipsis.
    const bool is_cut = clips && Columns(piece.text) >= left;
    const std::string text = is_cut ? Clip(piece.text + " ", left, options.unicode) : piece.text;
    line += options.color ? Styled(piece.style, text) : text;
    left -= Columns(text);
    if (is_cut) break;
  }
  return line;
}

}  // namespace tidemark::console
