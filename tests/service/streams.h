// Streams of clients to a master on this host.
#pragma once

#include <grpcpp/grpcpp.h>

#include "tests/service/live_master.h"
#include "tests/test.h"
#include "tests/wire/encode_request.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"

namespace tidemark::test {

// A stream to the ingest service.
class IngestStream {
 public:
  explicit IngestStream(const std::shared_ptr<grpc::Channel>& channel,
                        const std::string& token = "")
      : context_(NewContext(token)),
        stub_(v1::IngestService::NewStub(channel)),
        stream_(stub_->StreamEvents(context_.get())) {}

  bool Send(const Event& event) {
    v1::StreamEventsRequest request;
    wire::EncodeRequest(event, request, HandleOf(event));
    return stream_->Write(request);
  }
  bool Send(const v1::StreamEventsRequest& request) { return stream_->Write(request); }
  bool Read(v1::StreamEventsResponse& response) { return stream_->Read(&response); }

  // Reads until the master has responded to all events of the source up to `sequence`. Returns the
  // rejections.
  std::vector<v1::Rejection> Answered(std::uint64_t sequence,
                                      const std::string& source = "app-master",
                                      const std::string& job_id = "job-1") {
    // Streams that have sent only ready-made batches have no handles. Those batches have handle 0.
    const auto known = handles_.find({job_id, source});
    EXPECT_TRUE(handles_.empty() || known != handles_.end()) << source << " of " << job_id;
    const std::uint32_t handle = known == handles_.end() ? 0 : known->second;
    std::vector<v1::Rejection> rejections;
    v1::StreamEventsResponse response;
    do {
      if (!Read(response)) {
        ADD_FAILURE() << "the stream ended early: " << Finish().error_message();
        return rejections;
      }
      if (response.has_control()) control_.MergeFrom(response.control());
      for (const v1::Rejection& rejection : response.rejections()) rejections.push_back(rejection);
    } while (response.handle() != handle || response.accepted_sequence() < sequence);
    return rejections;
  }
  // Returns all control messages that Answered() has read, merged.
  const v1::Control& control() const { return control_; }

  void WritesDone() { stream_->WritesDone(); }
  grpc::Status Finish() { return stream_->Finish(); }
  // Closes this side, reads all responses, and returns the status of the stream.
  grpc::Status Drain(std::vector<v1::Rejection>& rejections) {
    WritesDone();
    v1::StreamEventsResponse response;
    while (Read(response)) {
      rejections.insert(rejections.end(), response.rejections().begin(),
                        response.rejections().end());
    }
    return Finish();
  }
  // Returns the status of a stream that ends without a further response.
  grpc::Status End() {
    v1::StreamEventsResponse response;
    EXPECT_FALSE(Read(response));
    return Finish();
  }

 private:
  // Returns a new handle for each source of the stream.
  std::uint32_t HandleOf(const Event& event) {
    const auto next = static_cast<std::uint32_t>(handles_.size());
    return handles_.try_emplace({event.job_id, event.source_id}, next).first->second;
  }

  std::map<std::pair<std::string, std::string>, std::uint32_t> handles_;  // by job and source
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<v1::IngestService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamEventsRequest, v1::StreamEventsResponse>>
      stream_;
  v1::Control control_;
};

// A watch of one job, which the destructor cancels.
class WatchStream {
 public:
  WatchStream(const std::shared_ptr<grpc::Channel>& channel, const v1::WatchJobRequest& request,
              const std::string& token = "")
      : context_(NewContext(token)),
        stub_(v1::JobService::NewStub(channel)),
        stream_(stub_->WatchJob(context_.get(), request)) {}
  ~WatchStream() { Cancel(); }

  bool Read(v1::WatchJobResponse& response) { return stream_->Read(&response); }
  std::vector<v1::WatchJobResponse> ReadAll() {
    std::vector<v1::WatchJobResponse> responses;
    v1::WatchJobResponse response;
    while (Read(response)) responses.push_back(response);
    return responses;
  }
  void Cancel() { context_->TryCancel(); }
  grpc::Status Finish() { return stream_->Finish(); }

 private:
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<v1::JobService::Stub> stub_;
  std::unique_ptr<grpc::ClientReader<v1::WatchJobResponse>> stream_;
};

}  // namespace tidemark::test
