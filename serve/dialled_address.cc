#include "serve/dialled_address.h"

#include "transport/certificate.h"

namespace tidemark::cli {

std::string DialledAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  if (host == "0.0.0.0") return "127.0.0.1" + address.substr(colon);
  if (host == "[::]") return "[::1]" + address.substr(colon);
  return address;
}

ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security) {
  if (!security.ca_file.empty() || options.tls.certificate_file.empty()) return security;
  security.ca_file = options.tls.certificate_file;
  if (security.server_name.empty()) {
    security.server_name =
        transport::CertificateName(options.tls.certificate_file).value_or(std::string());
  }
  return security;
}

}  // namespace tidemark::cli
