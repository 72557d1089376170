#include <grpcpp/grpcpp.h>

#include "tests/test.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "web/api.h"

namespace tidemark::web::event_stream_test {
namespace {

// Sends one response to each watcher, and then ends the stream.
class OneUpdate final : public tidemark::v1::JobService::Service {
 public:
  grpc::Status WatchJob(grpc::ServerContext*, const tidemark::v1::WatchJobRequest*,
                        grpc::ServerWriter<tidemark::v1::WatchJobResponse>* writer) override {
    writer->Write({});
    return grpc::Status::OK;
  }
};

// A client that disconnects while its first event is encoded. Its own thread reports that the
// client has disconnected.
class LeavingExchange final : public Exchange {
 public:
  LeavingExchange()
      : leaver_([this] {
          while (!is_leaving_) continue;
          const std::function<void()> on_gone = std::move(calls_.on_gone);
          calls_ = {};
          on_gone();
        }) {}

  const HttpRequest& request() const override { return request_; }
  void Answer(HttpAnswer) override {}
  void BeginStream(StreamCalls calls) override {
    calls_ = std::move(calls);
    is_leaving_ = true;
  }
  void Write(std::vector<std::shared_ptr<const std::string>>) override {}
  void EndStream() override { ended_.set_value(); }
  void Abort() override {}
  // Must be called only once, from the test's thread.
  void AwaitEnd() {
    ended_.get_future().wait();
    leaver_.join();
  }

 private:
  const HttpRequest request_;
  StreamCalls calls_;
  std::promise<void> ended_;
  std::atomic<bool> is_leaving_ = false;
  std::thread leaver_;
};

// With events of different lengths, the client disconnects at different points of the encoding.
TEST(EventStream, CountsNoBytesOfReadersThatHaveDisconnected) {
  OneUpdate service;
  grpc::ServerBuilder builder;
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto channel = server->InProcessChannel({});
  const auto workers = std::make_shared<EventWorkers>();
  const auto calls = std::make_shared<OpenCalls>();
  for (std::size_t length = 0; length < 200'000; length += 500) {
    const auto exchange = std::make_shared<LeavingExchange>();
    EventStream::Start(exchange,
                       {.channel = channel,
                        .method = "/tidemark.v1.JobService/WatchJob",
                        .context = calls->NewContext()},
                       workers, "job-1", [length](const grpc::ByteBuffer&) {
                         return StreamEvent{"1-1", std::string(length, 'x'),
                                            std::make_shared<const std::string>("rest")};
                       });
    exchange->AwaitEnd();
  }
  workers->turns.Stop();
  calls->CancelAndAwait();
  EXPECT_EQ(channel.use_count(), 1);
  EXPECT_EQ(workers->in_flight.bytes(), 0U);
}

}  // namespace
}  // namespace tidemark::web::event_stream_test
