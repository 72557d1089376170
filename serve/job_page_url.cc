#include "serve/job_page_url.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace tidemark::cli {
namespace {

std::string Escaped(const std::string& id) {
  std::string escaped;
  for (const char letter : id) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("-_.~").find(letter) != std::string_view::npos;
    escaped += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
  }
  return escaped;
}

}  // namespace

std::string JobPageUrl(const std::string& page_url, const std::string& job_id) {
  return fmt::format("{}{}#/jobs/{}", page_url, page_url.ends_with('/') ? "" : "/",
                     Escaped(job_id));
}

}  // namespace tidemark::cli
