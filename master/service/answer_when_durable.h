// Answers a call once what it did is durable, and keeps no thread waiting for that.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "master/service/grpc_status.h"
#include "master/service/journal.h"

namespace tidemark::service {

class AnswerWhenDurable final : public grpc::ServerUnaryReactor, public Journal::Waiter {
 public:
  static AnswerWhenDurable* Start(Journal& journal, const absl::StatusOr<Journal::Mark>& done) {
    auto answer = std::shared_ptr<AnswerWhenDurable>(new AnswerWhenDurable());
    answer->self_ = answer;  // lives until OnDone, and while the journal may call it
    if (done.ok()) {
      journal.NotifyWhenDurable(*done, answer);
    } else {
      answer->Answer(ToGrpc(done.status()));
    }
    return answer.get();
  }

  void OnDurable(Journal::Position) override { Answer(grpc::Status::OK); }
  void OnStalled(const absl::Status& why) override { Answer(ToGrpc(JournalFails(why))); }
  void OnCancel() override { Answer(grpc::Status::CANCELLED); }
  void OnDone() override { self_.reset(); }

 private:
  AnswerWhenDurable() = default;
  void Answer(grpc::Status status) {
    if (!answered_.exchange(true)) Finish(std::move(status));
  }

  std::atomic<bool> answered_ = false;
  std::shared_ptr<AnswerWhenDurable> self_;
};

}  // namespace tidemark::service
