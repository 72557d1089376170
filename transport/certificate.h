// Certificates in PEM files.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tidemark::transport {

// When the first certificate of the file ends. An error begins with the file's name: it cannot be
// read, is no PEM, is past its time or not valid yet at `now`.
absl::StatusOr<absl::Time> CertificateEnd(const std::string& file, absl::Time now);

// A name that the first certificate of the file is for, as a client would ask for it: the first DNS
// name or else the common name. Empty: it has none. Errors as above.
absl::StatusOr<std::string> CertificateName(const std::string& file);

// OK if `key_file` has a private key in PEM, without a password, that is the key of the
// certificate. The message never quotes a file.
absl::Status CheckKey(const std::string& certificate_file, const std::string& key_file);

}  // namespace tidemark::transport
