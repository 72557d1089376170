// The server's certificate, and what it asks of its clients.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "tidemark/master.h"

namespace tidemark::service {

// OK, or what is wrong with which file: missing, not PEM, past its time, a key of another
// certificate, a key with a password. No TLS is OK, too.
absl::Status CheckTls(const ServerTls& tls);

// Credentials that read the files again when they change; what is wrong then leaves the old ones in
// place. REQUIRES: CheckTls() is OK.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const ServerTls& tls);

}  // namespace tidemark::service
