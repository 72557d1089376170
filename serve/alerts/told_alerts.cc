#include "serve/alerts/told_alerts.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace tidemark::cli {
namespace {

bool IsId(const std::string& line) {
  return line.size() == 16 && line.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

ToldAlerts::ToldAlerts(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::vector<std::string> lines;
  {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (IsId(line)) lines.push_back(std::move(line));  // a torn one is none
    }
  }
  const std::size_t from = lines.size() > 2 * kKept ? lines.size() - kKept : 0;
  ids_.insert(lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end());
  if (from > 0) {
    const std::string fresh = path_ + ".new";
    std::ofstream file(fresh, std::ios::trunc);
    for (std::size_t i = from; i < lines.size(); ++i) file << lines[i] << '\n';
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(fresh, path_, error);
  }
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (file_ == nullptr) {
    trouble_ = absl::UnavailableError(fmt::format("{}: {}", path_, std::strerror(errno)));
    return;
  }
  std::fputc('\n', file_.get());  // behind a torn line
}

void ToldAlerts::Add(const std::string& id) {
  if (file_ == nullptr) return;
  if (std::fprintf(file_.get(), "%s\n", id.c_str()) < 0 || std::fflush(file_.get()) != 0) {
    trouble_ = absl::UnavailableError(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
}

}  // namespace tidemark::cli
