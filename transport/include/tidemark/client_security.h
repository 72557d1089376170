// The credentials that authenticate a client to its master, and the master to the client.
//
// Contains only file names, never a secret, so that no secret appears in a process list, a log or a
// core dump.
#pragma once

#include <string>

namespace tidemark {

struct ClientSecurity {
  // File of PEM certificates. One of them must have signed the master's certificate. Empty disables
  // TLS.
  std::string ca_file;
  // PEM certificate chain and key for a master that requests client certificates. Empty if the
  // client has none.
  std::string certificate_file;
  std::string key_file;
  // Expected name in the master's certificate. Empty means the host of the master's address.
  std::string server_name;
  // File that contains only the token. Empty means no token. Without TLS, the token is sent only to
  // loopback and unix addresses.
  std::string token_file;
};

}  // namespace tidemark
