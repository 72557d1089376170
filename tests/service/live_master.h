// Runs a real master on this host with short ticks, for real clients. Tests wait for conditions,
// and a deadline expires only if a test fails.
#pragma once

#include <grpcpp/grpcpp.h>

#include "tests/scratch_directory.h"
#include "tests/test.h"
#include "tidemark/master.h"

namespace tidemark::test {

inline constexpr std::chrono::seconds kCallDeadline(100);

inline std::unique_ptr<grpc::ClientContext> NewContext(const std::string& token = "") {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
  return context;
}

class LiveMaster : public ::testing::Test {
 protected:
  // Ends the previous master, and starts one with `options_`.
  void Start() {
    master_.reset();
    master_ = Master::Start(options_).value();
    channel_ = grpc::CreateChannel(master_->address(), grpc::InsecureChannelCredentials());
  }
  void AwaitFinal(const std::string& job_id) {
    EXPECT_TRUE(master_->WaitUntilFinal(job_id, absl::FromChrono(kCallDeadline)).ok()) << job_id;
  }

  ScratchDirectory directory_;
  MasterOptions options_ = {.tick_interval = absl::Milliseconds(20),
                            .tick_interval_min = absl::Milliseconds(10)};
  std::unique_ptr<Master> master_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace tidemark::test
