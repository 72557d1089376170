#include "hadoop/configuration.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"

namespace tidemark::hadoop {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

std::string WithoutComments(std::string_view xml) {
  constexpr std::string_view kBegin = "<!--";
  constexpr std::string_view kEnd = "-->";
  std::string text;
  while (!xml.empty()) {
    const std::size_t begin = xml.find(kBegin);
    text += xml.substr(0, begin);
    const std::size_t end = begin == xml.npos ? begin : xml.find(kEnd, begin);
    xml = end == xml.npos ? std::string_view() : xml.substr(end + kEnd.size());
  }
  return text;
}

// Returns the content of the first element of this name, and removes everything up to the end of
// the element from `xml`. If there is no such element, both are empty.
std::string_view CutElement(std::string_view name, std::string_view& xml) {
  const std::string begin_tag = fmt::format("<{}>", name);
  const std::string end_tag = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(begin_tag);
  const std::size_t end = begin == xml.npos ? begin : xml.find(end_tag, begin);
  if (end == xml.npos) {
    xml = {};
    return {};
  }
  const std::size_t content = begin + begin_tag.size();
  const std::string_view found = xml.substr(content, end - content);
  xml = xml.substr(end + end_tag.size());
  return found;
}

std::string Stripped(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

// Returns the text of an element, unescaped and without surrounding spaces.
std::string TextOf(std::string_view name, std::string_view xml) {
  return absl::StrReplaceAll(Stripped(CutElement(name, xml)), {{"&lt;", "<"},
                                                               {"&gt;", ">"},
                                                               {"&quot;", "\""},
                                                               {"&apos;", "'"},
                                                               {"&#10;", "\n"},
                                                               {"&#13;", "\r"},
                                                               {"&amp;", "&"}});
}

}  // namespace

Configuration ParseConfiguration(std::string_view xml) {
  const std::string text = WithoutComments(xml);
  Configuration found;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view property = CutElement("property", rest);
    std::string key = TextOf("name", property);
    if (!key.empty()) found.insert_or_assign(std::move(key), TextOf("value", property));
  }
  return found;
}

Configuration ReadConfiguration(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kFileBytesMax) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return ParseConfiguration(text);
}

std::string ValueOf(const Configuration& configuration, std::string_view key,
                    std::string_view otherwise) {
  const auto found = configuration.find(key);
  const std::string value = found == configuration.end() ? "" : Stripped(found->second);
  return value.empty() ? std::string(otherwise) : value;
}

}  // namespace tidemark::hadoop
