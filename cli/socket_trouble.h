// Why no master answers at a unix socket, as far as its file tells.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace tidemark::cli {

// What is wrong at unix:PATH, and what to do; empty: the address is another, or its file is as it
// should be.
inline std::optional<std::string> DescribeSocket(const std::string& address) {
  constexpr const char* kScheme = "unix:";
  if (!address.starts_with(kScheme)) return std::nullopt;
  std::string path = address.substr(std::string(kScheme).size());
  if (path.starts_with("//")) path = path.substr(2);
  std::error_code error;
  const std::filesystem::file_status file = std::filesystem::status(path, error);
  switch (file.type()) {
    case std::filesystem::file_type::not_found:
      return fmt::format(
          "no master listens at {}: there is no {}; start one with `tidemark serve --listen {}` or "
          "name another with --master",
          address, path, address);
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::unknown:
      return fmt::format("cannot reach {}: {}; ask its owner, or name another with --master", path,
                         error.message());
    case std::filesystem::file_type::socket:
      return std::nullopt;
    default:
      return fmt::format(
          "no master listens at {}: {} is not a socket; name that of a master with "
          "--master",
          address, path);
  }
}

}  // namespace tidemark::cli
