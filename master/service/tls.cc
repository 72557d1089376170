#include "master/service/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>

#include <memory>

#include "absl/time/clock.h"
#include "transport/certificate.h"
#include "transport/small_file.h"

namespace tidemark::service {
namespace {

// How often the files are checked for changes.
constexpr unsigned kRefreshSeconds = 2;

}  // namespace

absl::Status CheckTls(const ServerTls& tls) {
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError(
        "tls.certificate and tls.key go together: set both or neither");
  }
  if (tls.certificate_file.empty()) {
    if (tls.client_ca_file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("tls.client_ca needs tls.certificate and tls.key too");
  }
  const absl::Time now = absl::Now();
  absl::Status status = transport::CertificateEnd(tls.certificate_file, now).status();
  if (status.ok()) status = transport::CheckKey(tls.certificate_file, tls.key_file);
  if (status.ok()) status = transport::CheckSecretFile(tls.key_file);
  if (status.ok() && !tls.client_ca_file.empty()) {
    status = transport::CertificateEnd(tls.client_ca_file, now).status();
  }
  return status;
}

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const ServerTls& tls) {
  if (tls.certificate_file.empty()) return grpc::InsecureServerCredentials();
  namespace tls_api = grpc::experimental;
  tls_api::TlsServerCredentialsOptions options(
      std::make_shared<tls_api::FileWatcherCertificateProvider>(
          tls.key_file, tls.certificate_file, tls.client_ca_file, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (tls.client_ca_file.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls_api::TlsServerCredentials(options);
}

}  // namespace tidemark::service
