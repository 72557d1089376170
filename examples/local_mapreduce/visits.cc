#include "examples/local_mapreduce/visits.h"

#include <cmath>
#include <random>

#include "examples/local_mapreduce/file_io.h"
#include "fmt/format.h"

namespace tidemark::examples {
namespace {

// Pages e^0 .. e^9.2, about 10,000 of them, uniform in the logarithm.
constexpr double kLogPagesMax = 9.2;
constexpr std::uint32_t kVisitorsMax = 65'536;
constexpr std::uint32_t kSecondsMax = 600;
constexpr std::uint32_t kCentsMax = 5000;

}  // namespace

absl::Status GenerateVisits(const std::string& path, std::uint64_t count) {
  absl::StatusOr<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  std::mt19937_64 random(1);  // its numbers are laid down by the standard
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (std::uint64_t i = 0; i < count; ++i) {
    const double log_page = kLogPagesMax * static_cast<double>(below(1 << 20)) / (1 << 20);
    const std::uint64_t visitor = below(kVisitorsMax);
    const std::uint64_t seconds = below(kSecondsMax);
    const std::uint64_t cents = below(kCentsMax);
    file->Append(fmt::format("10.0.{}.{} /page-{} {} {}\n", visitor / 256, visitor % 256,
                             static_cast<std::uint64_t>(std::exp(log_page)), seconds, cents));
  }
  return file->Close();
}

}  // namespace tidemark::examples
