// How the commands of an installation reach its own master.
#pragma once

#include <string>

#include "tidemark/client_security.h"
#include "tidemark/master.h"

namespace tidemark::cli {

// The address at which a client on this host reaches the master that listens at `address`; 0.0.0.0
// and [::] cannot be dialled.
std::string DialledAddress(const std::string& address);

// What to trust there unless `security` says: the certificate of the installation itself.
ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security);

}  // namespace tidemark::cli
