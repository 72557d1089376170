// Untrusted text, made printable and measured in columns of a terminal.
//
// Names, messages and reasons arrive over the network. Before they reach a screen, whatever could
// move its cursor, change its colours or turn its direction is replaced. Pure; O(length).
#pragma once

#include <string>
#include <vector>

namespace tidemark::console {

// `text` as one harmless line: control characters become spaces; broken UTF-8 and characters that
// steer a terminal become '?'. Without `unicode` so does everything beyond ASCII.
std::string Printable(const std::string& text, bool unicode);

// How many columns a terminal takes for `text`, which is Printable(). Where terminals differ, the
// larger number, so that a line that fits by this measure fits everywhere.
int Columns(const std::string& text);

// `text` in at most `columns`; its end becomes an ellipsis when it is too long.
std::string Clip(const std::string& text, int columns, bool unicode);

// `text` filled up with spaces to `columns`; longer text stays as it is.
std::string PadRight(const std::string& text, int columns);
std::string PadLeft(const std::string& text, int columns);

// `text` broken between words into lines of at most `columns`; the last of `lines_max` lines is
// clipped. Empty text has no lines.
std::vector<std::string> WrapWords(const std::string& text, int columns, int lines_max,
                                   bool unicode);

}  // namespace tidemark::console
