// What an alert tells of a job.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::cli {

// In the order of kAlertKindNames.
enum class AlertKind : std::uint8_t {
  // It is likely to end after its deadline, at two looks in a row, by more than a guess; or the
  // deadline has passed.
  kLate,
  // The running task that is expected to end last has changed, in two snapshots in a row.
  kStraggler,
  // It has ended, however.
  kEnded,
  // It has ended otherwise than well.
  kFailed,
  // It has not reported for long.
  kSilent,
};
inline constexpr std::array<std::string_view, 5> kAlertKindNames = {"late", "straggler", "ended",
                                                                    "failed", "silent"};

constexpr std::string_view NameOf(AlertKind kind) {
  return kAlertKindNames[static_cast<std::size_t>(kind)];
}

// Empty: there is none of that name.
constexpr std::optional<AlertKind> AlertKindNamed(std::string_view name) {
  const auto* const known = std::ranges::find(kAlertKindNames, name);
  if (known == kAlertKindNames.end()) return std::nullopt;
  return static_cast<AlertKind>(known - kAlertKindNames.begin());
}

}  // namespace tidemark::cli
