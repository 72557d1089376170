// Certificates in PEM files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::transport {

// Returns the time at which the first certificate of the file expires. Fails if the file cannot be
// read or is not PEM, or if the certificate is not valid at `now`. The message begins with the
// file's name.
absl::StatusOr<absl::Time> CertificateEnd(const std::string& file, absl::Time now);

// Returns the name for which clients would request the first certificate of the file. This is the
// first DNS name, or else the common name, or an empty string. Fails as CertificateEnd() does.
absl::StatusOr<std::string> CertificateName(const std::string& file);

// Checks that `key_file` has a PEM private key that has no password and belongs to the
// certificate. Messages never quote a file.
absl::Status CheckKey(const std::string& certificate_file, const std::string& key_file);

}  // namespace tidemark::transport
