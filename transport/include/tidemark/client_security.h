// The credentials by which a client authenticates itself and its master.
//
// Holds only names of files, never a secret, so that no secret appears in a process list, a log or
// a core dump of options.
#pragma once

#include <string>

namespace tidemark {

struct ClientSecurity {
  // PEM certificates, one of which must have signed the master's. Empty means no TLS.
  std::string ca_file;
  // PEM certificate chain and key for a master that requests a certificate. Empty if the client has
  // none.
  std::string certificate_file;
  std::string key_file;
  // The name in the master's certificate. Empty means the host of its address.
  std::string server_name;
  // File with the token, alone on a line. Empty means no token. Without TLS, the token is sent to
  // loopback and unix addresses only.
  std::string token_file;

  // Reads TIDEMARK_TLS_CA, TIDEMARK_TLS_CERTIFICATE, TIDEMARK_TLS_KEY, TIDEMARK_TLS_SERVER_NAME and
  // TIDEMARK_TOKEN_FILE. An unset variable leaves its field empty.
  static ClientSecurity FromEnvironment();
};

}  // namespace tidemark
