// The credentials with which a client authenticates itself and its master.
//
// Contains only names of files, never a secret, so that no secret appears in a process list, a log
// or a core dump of options.
#pragma once

#include <string>

namespace tidemark {

struct ClientSecurity {
  // File of PEM certificates, one of which must have signed the master's. Empty means no TLS.
  std::string ca_file;
  // PEM certificate chain and key for a master that requests a certificate. Empty if the client
  // has none.
  std::string certificate_file;
  std::string key_file;
  // The expected name in the master's certificate. Empty means the host of the master's address.
  std::string server_name;
  // File that contains only the token. Empty means no token. If there is no TLS, the token is sent
  // only to loopback and unix addresses.
  std::string token_file;

  // Reads TIDEMARK_TLS_CA, TIDEMARK_TLS_CERTIFICATE, TIDEMARK_TLS_KEY, TIDEMARK_TLS_SERVER_NAME and
  // TIDEMARK_TOKEN_FILE. An unset variable leaves its field empty.
  static ClientSecurity FromEnvironment();
};

}  // namespace tidemark
