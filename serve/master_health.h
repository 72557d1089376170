// Whether a master is healthy.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tidemark/client_security.h"

namespace tidemark::cli {

// Whether the master at the address takes reports: grpc.health.v1 of its IngestService. It wants no
// token. NotFound or Unimplemented: what answers is no master.
absl::StatusOr<bool> TakesReports(const std::string& address, const ClientSecurity& security);

}  // namespace tidemark::cli
