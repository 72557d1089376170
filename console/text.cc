#include "console/text.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "text/utf8.h"

namespace tidemark::console {
namespace {

text::Character Decode(const std::string& text, std::size_t position) {
  return text::FirstCharacter(std::string_view(text).substr(position));
}

struct CodeRange {
  char32_t first;
  char32_t last;
};

template <std::size_t kCount>
bool IsIn(char32_t code, const CodeRange (&ranges)[kCount]) {
  return std::any_of(ranges, ranges + kCount, [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

// Characters that change the direction of text, or are invisible or unassigned.
constexpr CodeRange kSteering[] = {
    {0x80, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x200B, 0x200F}, {0x2028, 0x202E},
    {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFF}, {0xE000, 0xF8FF}, {0xE0000, 0x10FFFF}};
constexpr CodeRange kCombining[] = {{0x300, 0x36F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0E}};
// Makes the previous character an emoji, which some terminals draw one column wider.
constexpr char32_t kAsEmoji = 0xFE0F;
// Ranges above kWideFrom whose characters are one column wide.
constexpr CodeRange kNarrowBeyond[] = {
    {0x1160, 0x22FF}, {0x2400, 0x25FC}, {0x27C0, 0x2B0F}, {0x2C00, 0x2DFF}};
constexpr char32_t kWideFrom = 0x1100;

int ColumnsOf(char32_t code) {
  if (IsIn(code, kCombining)) return 0;
  if (code == kAsEmoji) return 1;
  return code >= kWideFrom && !IsIn(code, kNarrowBeyond) ? 2 : 1;
}

// Returns the number of bytes of `text` that fit into `columns`.
std::size_t BytesThatFit(const std::string& text, int columns) {
  int used = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    const text::Character character = Decode(text, position);
    used += ColumnsOf(character.code);
    if (used > columns) break;
    position += character.bytes;
  }
  return position;
}

std::string Spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

// The codes of the styles, in order. The colours come from the user's palette, which fits the
// background.
constexpr const char* kCodes[] = {"",         "\x1b[1m",  "\x1b[2m", "\x1b[36m",
                                  "\x1b[32m", "\x1b[33m", "\x1b[31m"};

}  // namespace

std::string Printable(const std::string& text, bool unicode) {
  std::string printable;
  printable.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const text::Character character = Decode(text, position);
    const bool is_ascii = character.code < 0x80;
    if (!character.is_valid || (!is_ascii && (!unicode || IsIn(character.code, kSteering)))) {
      printable += '?';
    } else if (is_ascii && (character.code < 0x20 || character.code == 0x7F)) {
      printable += ' ';
    } else {
      printable.append(text, position, character.bytes);
    }
    position += character.bytes;
  }
  return printable;
}

int Columns(const std::string& text) {
  int columns = 0;
  for (std::size_t position = 0; position < text.size();) {
    const text::Character character = Decode(text, position);
    columns += ColumnsOf(character.code);
    position += character.bytes;
  }
  return columns;
}

std::string Clip(const std::string& text, int columns, bool unicode) {
  if (columns <= 0) return "";
  if (Columns(text) <= columns) return text;
  const std::string ellipsis = unicode ? "…" : columns >= 8 ? "..." : "";
  return text.substr(0, BytesThatFit(text, columns - Columns(ellipsis))) + ellipsis;
}

std::string ClipMiddle(const std::string& text, int columns, bool unicode) {
  if (Columns(text) <= columns) return text;
  const std::string ellipsis = unicode ? "…" : "...";
  const int kept = columns - Columns(ellipsis);
  if (kept < 2) return Clip(text, columns, unicode);
  std::size_t tail = 0;  // start of the longest suffix that fits
  for (int left = Columns(text); left > kept / 2;) {
    const text::Character character = Decode(text, tail);
    left -= ColumnsOf(character.code);
    tail += character.bytes;
  }
  return text.substr(0, BytesThatFit(text, kept - kept / 2)) + ellipsis + text.substr(tail);
}

std::string PadRight(const std::string& text, int columns) {
  return text + Spaces(columns - Columns(text));
}

std::string PadLeft(const std::string& text, int columns) {
  return Spaces(columns - Columns(text)) + text;
}

std::vector<std::string> WrapWords(const std::string& text, int columns, int lines_max,
                                   bool unicode) {
  std::vector<std::string> lines;
  std::string rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  while (!rest.empty() && columns > 0 && static_cast<int>(lines.size()) < lines_max) {
    const std::size_t fits = BytesThatFit(rest, columns);
    const bool is_last = static_cast<int>(lines.size()) + 1 == lines_max;
    if (fits == rest.size() || is_last) {
      lines.push_back(Clip(rest, columns, unicode));
      break;
    }
    // Breaks a word that is longer than a line. A character wider than a line ends the text.
    std::size_t end = rest.rfind(' ', fits);
    if (end == std::string::npos || end == 0) end = fits;
    if (end == 0) break;
    lines.push_back(rest.substr(0, rest.find_last_not_of(' ', end - 1) + 1));
    rest.erase(0, std::min(rest.find_first_not_of(' ', end), rest.size()));
  }
  return lines;
}

std::string Styled(Style style, const std::string& text) {
  const std::string code = kCodes[static_cast<std::size_t>(style)];
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
    // A piece that exactly fills a clipped line must leave space for the ellipsis.
    const bool is_cut = clips && Columns(piece.text) >= left;
    const std::string text = is_cut ? Clip(piece.text + " ", left, options.unicode) : piece.text;
    line += options.color ? Styled(piece.style, text) : text;
    left -= Columns(text);
    if (is_cut) break;
  }
  return line;
}

std::string TableLine(const std::string& text, const TableOptions& options, Style style) {
  return StyledLine().Add(style, text).Render(options.width, options.text);
}

std::vector<std::string> RenderTable(const std::vector<Row>& rows, const TableOptions& options) {
  std::vector<int> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 == row.size() ? row[i] : PadRight(row[i], widths[i] + 2);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    lines.push_back(TableLine(text, options, &row == &rows.front() ? Style::kDim : Style::kPlain));
  }
  return lines;
}

namespace {

std::string Repeat(const char* text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

constexpr const char* kBlocks[] = {"█", "▓", "▒", "░"};
constexpr const char* kLetters[] = {"#", "=", "-", "."};

}  // namespace

Bar MakeBar(const ShownProgress& shown, int columns, bool unicode) {
  if (columns <= 0) return {};
  const bool has_brackets = !unicode && columns >= 4;
  const int inner = has_brackets ? columns - 2 : columns;
  const auto parts = [inner](double fraction) {
    return fraction >= 0 ? static_cast<int>(std::min(fraction, 1.0) * inner) : 0;
  };
  const int sure = parts(shown.lower);
  const int likely = std::max(parts(shown.fraction), sure);
  const int possible = std::max(parts(shown.upper), likely);
  const auto& letters = unicode ? kBlocks : kLetters;
  Bar bar = {.sure = Repeat(letters[0], sure),
             .likely = Repeat(letters[1], likely - sure),
             .possible = Repeat(letters[2], possible - likely),
             .left = Repeat(letters[3], inner - possible)};
  if (has_brackets) {
    bar.sure = "[" + bar.sure;
    bar.left += "]";
  }
  return bar;
}

std::string BarLegend(bool unicode) {
  const auto& letters = unicode ? kBlocks : kLetters;
  return std::string(letters[0]) + " to the lower bound, " + letters[1] + " to the estimate, " +
         letters[2] + " to the upper bound (90 % interval)";
}

}  // namespace tidemark::console
