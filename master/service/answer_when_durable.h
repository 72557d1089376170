// Answers a call once what it did is durable, and keeps no thread waiting for that.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "master/service/grpc_status.h"
#include "master/service/journal.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

class AnswerWhenDurable final : public grpc::ServerUnaryReactor,
                                public Journal::Waiter,
                                public std::enable_shared_from_this<AnswerWhenDurable> {
 public:
  static AnswerWhenDurable* Start(Journal& journal, const absl::StatusOr<Journal::Mark>& done) {
    const auto answer = Create();
    answer->Done(journal, done);
    return answer.get();
  }
  // Answers with the result of `work`, which runs in turn for `key`. The call is not finished
  // before `work` has returned, since gRPC then frees the request and the response that it uses.
  static AnswerWhenDurable* StartInTurn(transport::TurnQueue& turns, const std::string& key,
                                        Journal& journal,
                                        std::function<absl::StatusOr<Journal::Mark>()> work) {
    const auto answer = Create();
    answer->work_ = Work::kPending;
    turns.Add(key, [answer, &journal, work = std::move(work)] {
      if (answer->work_ == Work::kCancelled) return answer->Answer(grpc::Status::CANCELLED);
      const absl::StatusOr<Journal::Mark> done = work();
      const bool is_cancelled = answer->work_.exchange(Work::kDone) == Work::kCancelled;
      if (is_cancelled) return answer->Answer(grpc::Status::CANCELLED);
      answer->Done(journal, done);
    });
    return answer.get();
  }

  void OnDurable(Journal::Position) override { Answer(grpc::Status::OK); }
  void OnStalled(const absl::Status& why) override { Answer(ToGrpc(JournalFails(why))); }
  void OnCancel() override {
    Work pending = Work::kPending;
    if (work_.compare_exchange_strong(pending, Work::kCancelled)) return;
    Answer(grpc::Status::CANCELLED);
  }
  void OnDone() override { self_.reset(); }

 private:
  // The state of work that runs in turn.
  enum class Work { kDone, kPending, kCancelled };

  AnswerWhenDurable() = default;
  // It lives until OnDone, and while the journal may call it.
  static std::shared_ptr<AnswerWhenDurable> Create() {
    auto answer = std::shared_ptr<AnswerWhenDurable>(new AnswerWhenDurable());
    answer->self_ = answer;
    return answer;
  }
  void Done(Journal& journal, const absl::StatusOr<Journal::Mark>& done) {
    if (done.ok()) {
      journal.NotifyWhenDurable(*done, shared_from_this());
    } else {
      Answer(ToGrpc(done.status()));
    }
  }
  void Answer(grpc::Status status) {
    if (!answered_.exchange(true)) Finish(std::move(status));
  }

  std::atomic<Work> work_ = Work::kDone;
  std::atomic<bool> answered_ = false;
  std::shared_ptr<AnswerWhenDurable> self_;
};

}  // namespace tidemark::service
