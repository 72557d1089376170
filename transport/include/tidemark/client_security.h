// How a client of a master proves who it is, and how it knows the master.
//
// Only names of files, never a secret: so none shows in a process list, a log or a core dump of
// options.
#pragma once

#include <string>

namespace tidemark {

struct ClientSecurity {
  // Certificates, in PEM, one of which must have signed the master's. Empty: no TLS.
  std::string ca_file;
  // The certificate chain and key, in PEM, that the client shows to a master that asks for one.
  // Empty: none.
  std::string certificate_file;
  std::string key_file;
  // The name the master's certificate must have, if not the host of its address.
  std::string server_name;
  // Holds the token to send, alone on a line. Empty: none. Without TLS it is sent to loopback and
  // unix addresses only.
  std::string token_file;

  // What TIDEMARK_TLS_CA, TIDEMARK_TLS_CERTIFICATE, TIDEMARK_TLS_KEY, TIDEMARK_TLS_SERVER_NAME and
  // TIDEMARK_TOKEN_FILE say; unset ones leave their field empty.
  static ClientSecurity FromEnvironment();
};

}  // namespace tidemark
