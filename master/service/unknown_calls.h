// Answers calls of methods that this master does not have, such as those of another version's
// clients, with words: gRPC's own answer has none.
#pragma once

#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <string>
#include <utility>

namespace tidemark::service {

// Thread-safe.
class UnknownCalls final : public grpc::CallbackGenericService {
 public:
  explicit UnknownCalls(std::string version) : version_(std::move(version)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Refusal(fmt::format(
        "this master, of Tidemark {}, has no method {}; use a client of the same version", version_,
        context->method()));
  }

 private:
  class Refusal final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Refusal(const std::string& why) {
      Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, why));
    }
    void OnDone() override { delete this; }
  };

  const std::string version_;
};

}  // namespace tidemark::service
