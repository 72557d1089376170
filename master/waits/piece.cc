#include "master/waits/piece.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

namespace tidemark::waits {
namespace {

bool IsAmount(const std::optional<double>& amount) {
  return !amount.has_value() || (std::isfinite(*amount) && *amount >= 0);
}

void Scale(std::optional<double>& amount, double by) {
  if (amount.has_value()) *amount *= by;
}

}  // namespace

absl::Status CheckPiece(const Piece& piece) {
  const auto fault = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("piece of stage ", static_cast<std::uint32_t>(piece.stage), " from ",
                     piece.from, " s to ", piece.to, " s: ", std::string(what)));
  };
  if (!std::isfinite(piece.from) || !std::isfinite(piece.to)) {
    return fault("a time is not finite; omit the piece");
  }
  if (piece.to < piece.from) return fault("it ends before it starts; check the sender's clock");
  bool amounts = IsAmount(piece.use.processor_seconds);
  for (const WaitReason resource : kWaitReasons) {
    const Use& use = piece.use.of[resource];
    amounts = amounts && IsAmount(use.wait_seconds) && IsAmount(use.units);
  }
  if (!(piece.tasks > 0) || !std::isfinite(piece.tasks))
    return fault("its number of tasks must be positive and finite");
  if (!amounts) return fault("an amount is negative or not finite; leave it empty if unknown");
  return absl::OkStatus();
}

Piece Clip(const Piece& piece, double from, double to) {
  if (piece.from >= from && piece.to <= to) return piece;
  Piece part = piece;
  part.from = std::max(piece.from, from);
  part.to = std::min(piece.to, to);
  const double share = part.seconds() / piece.seconds();
  Scale(part.use.processor_seconds, share);
  for (const WaitReason resource : kWaitReasons) {
    Scale(part.use.of[resource].wait_seconds, share);
    Scale(part.use.of[resource].units, share);
  }
  return part;
}

}  // namespace tidemark::waits
