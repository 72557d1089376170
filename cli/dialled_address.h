// How the commands of an installation reach its own master.
#pragma once

#include <string>

#include "tidemark/client_security.h"
#include "tidemark/master.h"

namespace tidemark::cli {

// Where a client on this host finds who listens at `address`: every address is no address.
std::string DialledAddress(const std::string& address);

// What to trust there unless `security` says: the certificate of the installation itself.
ClientSecurity Trusting(const MasterOptions& options, ClientSecurity security);

}  // namespace tidemark::cli
