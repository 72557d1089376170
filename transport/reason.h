// What went wrong, in a line.
#pragma once

#include <cstddef>
#include <string>

namespace tidemark::transport {

// gRPC wraps what the system said into layers of its own words; the system's come last.
inline std::string PlainReason(const std::string& grpc_message) {
  if (grpc_message.find("SETTINGS frame") != std::string::npos) {
    return "something listens there but does not answer as a Tidemark master";
  }
  const std::size_t last = grpc_message.rfind(": ");
  const bool is_wrapped = grpc_message.find("last error") != std::string::npos;
  return is_wrapped && last != std::string::npos ? grpc_message.substr(last + 2) : grpc_message;
}

}  // namespace tidemark::transport
