// Runs the services of a master over tables on a simulated disk, for clients on this host.
#pragma once

#include <grpcpp/grpcpp.h>

#include "master/service/ingest_service.h"
#include "master/service/job_service.h"
#include "master/service/job_table.h"
#include "master/service/workflow_table.h"
#include "tests/store/faulty_disk.h"
#include "tests/test.h"

namespace tidemark::test {

class ServiceOnADisk : public ::testing::Test {
 protected:
  explicit ServiceOnADisk(std::unique_ptr<service::Tokens> tokens = *service::Tokens::Load(""),
                          std::size_t in_flight_bytes_max = std::size_t{64} << 20)
      : tokens_(std::move(tokens)),
        deliveries_{.sent = service::SentSnapshots(),
                    .in_flight = transport::WritesInFlight(in_flight_bytes_max)} {}

  // Serves tables with these options, using the disk and the hub below.
  void Start(service::JobTableOptions options) {
    options.data_dir = "data";
    options.disk = disk_;
    options.hub = &hub_;
    jobs_ = std::make_unique<service::JobTable>(std::move(options));
    plans_ = std::make_unique<service::WorkflowTable>(service::WorkflowTableOptions{}, *jobs_);
    ingest_ = std::make_unique<service::IngestService>(*jobs_, clock_, gate_, metrics_,
                                                       service::AgentControl{});
    service_ = std::make_unique<service::JobService>(
        service::Publishing{hub_, deliveries_, clock_, gate_, metrics_}, *jobs_, *plans_,
        service::ServerInfo{});
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(ingest_.get());
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  void TearDown() override {
    if (server_ == nullptr) return;
    hub_.CloseAll();
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    ingest_->Stop();
    deliveries_.turns.Stop();
  }

  const std::shared_ptr<FaultyDisk> disk_ = std::make_shared<FaultyDisk>();
  const std::unique_ptr<service::Tokens> tokens_;
  service::Metrics metrics_;
  service::Log log_{LogSink()};
  service::Acceptor acceptor_{{}, true, metrics_, log_};
  service::Deliveries deliveries_;
  service::Gate gate_{*tokens_, acceptor_, 1000, metrics_, log_};
  service::Clock clock_;
  service::JobHub hub_{"master", 1000};
  std::unique_ptr<service::JobTable> jobs_;
  std::unique_ptr<service::WorkflowTable> plans_;
  std::unique_ptr<service::IngestService> ingest_;
  std::unique_ptr<service::JobService> service_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace tidemark::test
