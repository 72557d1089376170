#include "serve/config/setting.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "text/did_you_mean.h"
#include "text/size_text.h"
#include "transport/host_port.h"

namespace tidemark::cli {
namespace {

// Long enough for every value; a longer word is quoted in part.
constexpr std::size_t kQuotedBytesMax = 60;

}  // namespace

bool ReadCount(const std::string& word, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

bool ReadBytes(const std::string& word, std::uint64_t& value) {
  const std::optional<std::uint64_t> bytes = text::SizeIn(word);
  value = bytes.value_or(value);
  return bytes.has_value();
}

bool ReadSwitch(const std::string& word, bool& value) {
  value = word == "true";
  return value || word == "false";
}

bool ReadDuration(const std::string& word, absl::Duration& value) {
  return absl::ParseDuration(word, &value);
}

absl::Status CheckAddress(const std::string& word, bool may_be_unix) {
  const bool is_socket = may_be_unix && transport::UnixPathOf(word);
  if (is_socket || transport::ParseHostPort(word)) return absl::OkStatus();
  std::uint64_t port = 0;
  if (!ReadCount(word, port)) return Unallowed(word);
  return absl::InvalidArgumentError(
      fmt::format("`{}`; did you mean 127.0.0.1:{}?", word.substr(0, kQuotedBytesMax), port));
}

std::string FileIn(const std::string& folder, const std::string& name) {
  if (folder.empty() || name.empty() || name[0] == '/') return name;
  return fmt::format("{}/{}", folder, name);
}

absl::Status Unallowed(const std::string& word, const std::vector<std::string>& choices) {
  const bool is_long = word.size() > kQuotedBytesMax;
  return absl::InvalidArgumentError(
      is_long ? fmt::format("`{}...`", word.substr(0, kQuotedBytesMax))
              : fmt::format("`{}`{}", word, text::DidYouMean(word, choices)));
}

}  // namespace tidemark::cli
