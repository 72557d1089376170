// Certificates in PEM files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::transport {

// Returns when the first certificate of the file expires. An error begins with the file's name: it
// cannot be read, is not PEM, has expired or is not valid yet at `now`.
absl::StatusOr<absl::Time> CertificateEnd(const std::string& file, absl::Time now);

// Returns the name for which clients would request the first certificate of the file: the first DNS
// name or else the common name, or an empty text. Errors as above.
absl::StatusOr<std::string> CertificateName(const std::string& file);

// Checks that `key_file` has a private key in PEM, without a password, and that it belongs to the
// certificate. Messages never quote a file.
absl::Status CheckKey(const std::string& certificate_file, const std::string& key_file);

}  // namespace tidemark::transport
