// Tests the page of a real master over sockets. The tests wait for conditions, and a deadline
// expires only if a test fails.
#include "web/web_server.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "serve/page.h"
#include "tests/service/eventually.h"
#include "tests/service/live_master.h"
#include "tests/test.h"
#include "tidemark/agent.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "tidemark/web/v1/web.pb.h"
#include "transport/listen_address.h"
#include "web/http_server.h"

namespace tidemark::web::web_server_test {
namespace {

using test::Eventually;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr int kDeadlineSeconds = 60;

// A connection of a client.
class Connection {
 public:
  explicit Connection(int port, int receive_buffer = 0) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    }
    const timeval patience{.tv_sec = kDeadlineSeconds};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_open() const { return is_open_; }
  void Send(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t now = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return;
      sent += static_cast<std::size_t>(now);
    }
  }
  // Returns false at the end of the stream or after the deadline.
  bool ReadMore() {
    char bytes[65536];
    const ssize_t count = recv(socket_, bytes, sizeof(bytes), 0);
    if (count > 0) read_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  const std::string& ReadAll() {
    while (ReadMore()) {
    }
    return read_;
  }
  // Enlarges the receive buffer, so that the client is no longer slow.
  void EnlargeBuffer() const {
    const int bytes = 1 << 20;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    setsockopt(socket_, IPPROTO_TCP, TCP_WINDOW_CLAMP, &bytes, sizeof(bytes));
  }
  bool ReadUntil(const std::string& text) {
    std::size_t from = 0;
    while (read_.find(text, from) == std::string::npos) {
      from = read_.size() - std::min(read_.size(), text.size());
      if (!ReadMore()) return false;
    }
    return true;
  }
  const std::string& read() const { return read_; }
  bool IsClosedByPeer() const {
    char byte = 0;
    const ssize_t count = recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  const int socket_;
  bool is_open_ = false;
  std::string read_;
};

struct Answered {
  int status = 0;
  std::string head;
  std::string body;
};

Answered Parsed(const std::string& all) {
  Answered answer;
  const std::size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos || !all.starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::atoi(all.c_str() + 9);
  answer.head = all.substr(0, end + 2);
  answer.body = all.substr(end + 4);
  return answer;
}

// Returns the events of a stream, without HTTP's chunk headers.
std::vector<Json> UpdatesIn(const std::string& all) {
  const Answered answer = Parsed(all);
  std::string text;
  for (std::size_t at = 0; at < answer.body.size();) {
    const std::size_t line = answer.body.find("\r\n", at);
    if (line == std::string::npos) break;
    const std::size_t size = std::stoul(answer.body.substr(at, line - at), nullptr, 16);
    text += answer.body.substr(line + 2, size);
    at = line + 2 + size + 2;
  }
  std::vector<Json> updates;
  const std::string start = "event: update\ndata: ";
  for (std::size_t at = 0; (at = text.find(start, at)) != std::string::npos;) {
    at += start.size();
    const std::size_t end = text.find("\n\n", at);
    if (end == std::string::npos) break;
    updates.push_back(Json::parse(text.substr(at, end - at)));
  }
  return updates;
}

class WebServerTest : public test::LiveMaster {
 protected:
  WebServerTest() {
    options_.agent_flush_interval = absl::Milliseconds(50);
    options_.calls_per_second = 0;
  }
  void SetUp() override { Start(); }
  void Start(const std::string& tokens = "") {
    server_.reset();
    if (!tokens.empty()) options_.tokens_file = directory_.Write("tokens", tokens);
    LiveMaster::Start();
    StartPage(!tokens.empty());
  }
  void StartPage(bool has_tokens, absl::Duration silence_max = absl::Seconds(30),
                 const WordsOf& words_of = &serve::WebWordsOf,
                 std::shared_ptr<grpc::Channel> channel = nullptr) {
    if (channel == nullptr) channel = master_->InProcessChannel();
    PageTexts texts = serve::WebTexts();
    texts.words_of = words_of;
    auto server = WebServer::Start({.address = "127.0.0.1:0",
                                    .master = std::move(channel),
                                    .has_tokens = has_tokens,
                                    .texts = std::move(texts),
                                    .version = "0.2.0",
                                    .silence_max = silence_max});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  ~WebServerTest() override { server_.reset(); }

  std::unique_ptr<Agent> Opened(const std::string& job_id, std::size_t reduces = 1) {
    auto agent = Agent::Create({.master_address = master_->address(), .job_id = job_id});
    agent->OpenJob({.name = "my <b>job</b>", .stages = MapReduceStages(1, reduces)});
    return agent;
  }
  // Returns when the master has published the job.
  void Await(const std::string& job_id) const {
    EXPECT_TRUE(Eventually([&] {
      const auto job = master_->GetJob(job_id);
      return job.ok() && job->sequence > 0;
    })) << "the master does not show "
        << job_id;
  }

  std::string Head(const std::string& method, const std::string& path,
                   const std::string& headers) const {
    return fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}", method, path, server_->port(),
                       headers);
  }
  Answered Ask(const std::string& method, const std::string& path, const std::string& headers = "",
               const std::string& body = "") const {
    Connection connection(server_->port());
    const std::string length =
        method == "GET" ? "" : fmt::format("Content-Length: {}\r\n", body.size());
    connection.Send(Head(method, path, headers) + length + "Connection: close\r\n\r\n" + body);
    return Parsed(connection.ReadAll());
  }
  Answered Get(const std::string& path, const std::string& headers = "") const {
    return Ask("GET", path, headers);
  }
  std::unique_ptr<Connection> Watch(const std::string& path, const std::string& headers = "",
                                    int receive_buffer = 0) const {
    auto connection = std::make_unique<Connection>(server_->port(), receive_buffer);
    connection->Send(Head("GET", path, headers) + "\r\n");
    return connection;
  }

  std::unique_ptr<WebServer> server_;
};

TEST_F(WebServerTest, ReturnsTheMessagesOfGrpc) {
  auto agent = Opened("job-1");
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  AwaitFinal("job-1");
  tidemark::v1::GetJobRequest request;
  tidemark::v1::GetJobResponse response;
  request.set_job_id("job-1");
  const auto stub = tidemark::v1::JobService::NewStub(channel_);
  ASSERT_TRUE(stub->GetJob(test::NewContext().get(), request, &response).ok());

  const Answered one = Get("/api/jobs/job-1");
  EXPECT_EQ(one.status, 200);
  v1::JobAnswer answer;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(one.body, &answer).ok()) << one.body;
  EXPECT_EQ(answer.snapshot().SerializeAsString(), response.snapshot().SerializeAsString());
  EXPECT_EQ(answer.words().title(), "my <b>job</b>");
  EXPECT_EQ(answer.words().state(), "succeeded");
  EXPECT_EQ(answer.words().percent(), "100 %");

  const Json list = Json::parse(Get("/api/jobs?filter.states=JOB_STATE_SUCCEEDED").body);
  EXPECT_EQ(list["list"]["snapshots"][0]["job_id"], "job-1");
  EXPECT_EQ(list["words"]["job-1"]["state"], "succeeded");
  EXPECT_EQ(Get("/api/jobs/nobody").status, 404);
  EXPECT_EQ(Json::parse(Get("/api/jobs/nobody").body)["code"], "NOT_FOUND");
}

TEST_F(WebServerTest, ListsTheTasksOfRunningAndEndedJobs) {
  auto agent = Opened("job-1");
  agent->OpenExecutor({.executor = 0, .host = "h1", .slots = 1});
  agent->Changed({.attempt = {.stage = 0}, .state = AttemptState::kStarted, .executor = 0});
  Await("job-1");
  Json answer;
  EXPECT_TRUE(Eventually([&] {
    answer = Json::parse(Get("/api/jobs/job-1/tasks").body);
    return !answer["list"]["tasks"].empty();
  }));
  EXPECT_EQ(answer["list"]["hosts"][0]["host"], "h1");
  EXPECT_EQ(answer["list"]["hosts"][0]["running_count"], "1");
  EXPECT_EQ(answer["list"]["tasks"][0]["state"], "ATTEMPT_STATE_STARTED");
  EXPECT_EQ(answer["remaining"][0], "");
  EXPECT_EQ(Json::parse(Get("/api/jobs/job-1/tasks?host=h2").body)["list"]["tasks"], Json::array());
  EXPECT_EQ(Get("/api/jobs/job-1/forecasts").status, 200);

  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  AwaitFinal("job-1");
  answer = Json::parse(Get("/api/jobs/job-1/tasks").body);
  EXPECT_EQ(answer["list"]["tasks"][0]["host"], "h1");
  EXPECT_EQ(answer["remaining"][0], "");
  const Json forecasts = Json::parse(Get("/api/jobs/job-1/forecasts").body);
  EXPECT_FALSE(forecasts["list"]["forecasts"].empty());
  EXPECT_TRUE(forecasts["list"].contains("ended_at"));
}

// gRPC aborts the process if one of gRPC's threads frees the last reference to a channel.
TEST_F(WebServerTest, APageThatStopsEndsItsStreamsBeforeItsChannel) {
  auto agent = Opened("job-1");
  Await("job-1");
  for (int i = 0; i < 20; ++i) {
    std::shared_ptr<grpc::Channel> channel = master_->InProcessChannel();
    const std::weak_ptr<grpc::Channel> weak = channel;
    StartPage(/*has_tokens=*/false, absl::Seconds(30), &serve::WebWordsOf, std::move(channel));
    const auto streaming = Watch("/api/jobs/job-1/watch");
    const auto just_begun = Watch("/api/watch");
    ASSERT_TRUE(streaming->ReadUntil("event: update"));
    server_.reset();
    EXPECT_TRUE(weak.expired());
  }
}

TEST_F(WebServerTest, StreamsAJobToItsEndAndResumes) {
  auto agent = Opened("job-1");
  Await("job-1");
  auto connection = Watch("/api/jobs/job-1/watch?deltas=true");
  ASSERT_TRUE(connection->ReadUntil("\"base_sequence\":\"0\"")) << connection->read();
  EXPECT_THAT(connection->read(), HasSubstr("text/event-stream"));
  const std::size_t id = connection->read().find("\nid: ") + 5;
  const std::string token = connection->read().substr(id, connection->read().find('\n', id) - id);
  connection.reset();  // The client disconnects and resumes.

  auto again = Watch("/api/jobs/job-1/watch?deltas=true", "Last-Event-ID: " + token + "\r\n");
  ASSERT_TRUE(again->ReadUntil("event: update"));
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  ASSERT_TRUE(again->ReadUntil("event: end")) << again->read();
  const std::vector<Json> updates = UpdatesIn(again->read());
  ASSERT_GE(updates.size(), 2);
  EXPECT_EQ(updates.front()["update"]["restarted"], false);
  EXPECT_EQ(updates.front()["update"]["snapshot"]["base_sequence"], "0");
  std::uint64_t before = 0;
  for (const Json& update : updates) {
    const Json& snapshot = update["update"]["snapshot"];
    const std::uint64_t sequence = std::stoull(snapshot["sequence"].get<std::string>());
    EXPECT_GT(sequence, before);
    before = sequence;
    EXPECT_EQ(snapshot.value("final", false), &update == &updates.back());
  }
}

// Makes threads block until they are released.
class Barrier {
 public:
  void Pass() {
    ++waiting_;
    open_.wait();
  }
  void Await(int threads) const {
    while (waiting_ < threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void Open() { opened_.set_value(); }

 private:
  std::atomic<int> waiting_ = 0;
  std::promise<void> opened_;
  std::shared_future<void> open_ = opened_.get_future();
};

TEST_F(WebServerTest, EncodingAJobDoesNotDelayEventsOfAnother) {
  Barrier barrier;
  StartPage(/*has_tokens=*/false, absl::Seconds(30), [&](const Snapshot& snapshot) {
    if (snapshot.job_id == "huge") barrier.Pass();
    return serve::WebWordsOf(snapshot);
  });
  auto huge = Opened("huge");
  Await("huge");
  // Each view has different words.
  std::vector<std::unique_ptr<Connection>> readers;
  for (const char* view : {"VIEW_BASIC", "VIEW_STAGES", "VIEW_FULL"}) {
    for (int i = 0; i < 10; ++i) {
      readers.push_back(Watch(fmt::format("/api/jobs/huge/watch?view={}", view)));
    }
  }
  barrier.Await(1);

  const auto context = test::NewContext();
  const auto stub = tidemark::v1::IngestService::NewStub(channel_);
  const auto stream = stub->StreamEvents(context.get());
  tidemark::v1::StreamEventsRequest request;
  tidemark::v1::Source& source = *request.add_sources();
  source.set_source_id("app-master");
  source.set_job_id("calm");
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence) {
    request.set_first_sequence(sequence);
    request.set_sent_at(absl::GetCurrentTimeNanos());
    request.clear_events();
    request.add_events()->mutable_job_opened()->set_name("calm");
    ASSERT_TRUE(stream->Write(request));
    tidemark::v1::StreamEventsResponse response;
    while (response.accepted_sequence() < sequence) ASSERT_TRUE(stream->Read(&response));
  }
  context->TryCancel();
  barrier.Open();
  for (const auto& reader : readers) EXPECT_TRUE(reader->ReadUntil("event: update"));
  huge->Shutdown();
  server_.reset();  // The server must end before the barrier is destroyed.
}

TEST_F(WebServerTest, StreamsTheListOfJobs) {
  auto agent = Opened("job-1");
  auto connection = Watch("/api/watch");
  ASSERT_TRUE(connection->ReadUntil("\"synced\":true")) << connection->read();
  ASSERT_TRUE(connection->ReadUntil("job-1"));
  auto second = Opened("job-2");
  ASSERT_TRUE(connection->ReadUntil("job-2"));
  agent->Shutdown();
  second->Shutdown();
}

constexpr const char* kTokens =
    "reader nightly-* reader-0123456789abcdef\n"
    "admin  *         admins-0123456789abcdef\n";

TEST_F(WebServerTest, AppliesTheAccessRulesOfGrpc) {
  Start(kTokens);
  const std::string reader = "Authorization: Bearer reader-0123456789abcdef\r\n";
  EXPECT_EQ(Get("/api/jobs").status, 401);
  EXPECT_EQ(Get("/api/jobs", "Authorization: Bearer wrong-0123456789abcde\r\n").status, 401);
  EXPECT_EQ(Get("/api/jobs", "Authorization: Bearer \x80\xff\r\n").status, 401);
  EXPECT_EQ(Get("/api/jobs", reader).status, 200);
  EXPECT_EQ(Get("/api/jobs/daily-1", reader).status, 403);
  EXPECT_EQ(Get("/api/jobs/nightly-1", reader).status, 404);
  EXPECT_EQ(Get("/api/jobs/daily-1/watch", reader).status, 403);
  EXPECT_EQ(Get("/api/watch").status, 401);
  EXPECT_EQ(Get("/").status, 200) << "the page contains no secret";
}

TEST_F(WebServerTest, TheLogNamesTheClientOfARejectedCall) {
  struct Entries {
    std::mutex mutex;
    std::vector<LogEntry> all;
  };
  for (const bool is_on_page : {true, false}) {
    const auto entries = std::make_shared<Entries>();
    options_.log = [entries](const LogEntry& entry) {
      const std::lock_guard lock(entries->mutex);
      entries->all.push_back(entry);
    };
    Start(kTokens);
    if (is_on_page) {
      EXPECT_EQ(Get("/api/jobs").status, 401);
    } else {  // A client of gRPC cannot name another peer.
      const auto context = test::NewContext();
      context->AddMetadata(transport::kPeerMetadata, "ipv4:10.0.0.7:4711");
      tidemark::v1::ListJobsResponse response;
      const auto stub = tidemark::v1::JobService::NewStub(channel_);
      EXPECT_FALSE(stub->ListJobs(context.get(), {}, &response).ok());
    }
    const std::lock_guard lock(entries->mutex);
    ASSERT_FALSE(entries->all.empty());
    EXPECT_EQ(entries->all.back().message, "rejected a call without a valid token");
    EXPECT_THAT(entries->all.back().fields,
                ::testing::Contains(::testing::Pair("peer", "ipv4:127.0.0.1")));
  }
}

TEST_F(WebServerTest, AcceptsACookieInsteadOfTheToken) {
  Start(kTokens);
  const std::string ours = fmt::format("Origin: http://127.0.0.1:{}\r\n", server_->port());
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(Ask("POST", "/api/session", ours + json, R"({"token":"wrong-0123456789abcde"})").status,
            401);
  EXPECT_EQ(Ask("POST", "/api/session", ours + json, R"({"token":""})").status, 401);
  EXPECT_EQ(Ask("POST", "/api/session", ours + json, R"({"token":"a\nb"})").status, 401);
  const Answered in =
      Ask("POST", "/api/session", ours + json, R"({"token":"reader-0123456789abcdef"})");
  ASSERT_EQ(in.status, 200);
  EXPECT_THAT(in.head, HasSubstr("HttpOnly; SameSite=Strict"));
  EXPECT_THAT(in.head + in.body, Not(HasSubstr("reader-0123456789abcdef")));
  const std::size_t start = in.head.find("Set-Cookie: ") + 12;
  const std::string cookie =
      "Cookie: " + in.head.substr(start, in.head.find(';', start) - start) + "\r\n";
  EXPECT_EQ(Get("/api/jobs", cookie).status, 200);
  EXPECT_EQ(Get("/api/jobs/daily-1", cookie).status, 403);
  // Another site cannot use the session cookie.
  EXPECT_EQ(Get("/api/jobs", cookie + "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(Ask("DELETE", "/api/session", cookie + "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(Ask("DELETE", "/api/session", cookie).status, 403);
  EXPECT_EQ(Ask("DELETE", "/api/session", cookie + ours).status, 204);
  EXPECT_EQ(Get("/api/jobs", cookie).status, 401);
}

TEST_F(WebServerTest, SendsSecurityHeadersInEveryResponse) {
  for (const char* path : {"/", "/api/jobs", "/nowhere", "/api/openapi.json", "/%zz"}) {
    const std::string head = Get(path).head;
    EXPECT_THAT(head, HasSubstr("Content-Security-Policy: default-src 'none'")) << path;
    EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff")) << path;
    EXPECT_THAT(head, Not(HasSubstr("Access-Control"))) << path;
    EXPECT_THAT(head, Not(HasSubstr("unsafe"))) << path;
  }
}

TEST_F(WebServerTest, CompressesThePageOnlyIfTheRequestAcceptsGzip) {
  const Answered plain = Get("/");
  EXPECT_EQ(plain.status, 200);
  EXPECT_THAT(plain.head, Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(plain.body, StartsWith("<!doctype html>"));
  const Answered refused = Ask("GET", "/", "Accept-Encoding: br, gzip;q=0\r\n");
  EXPECT_EQ(refused.body, plain.body);
  const Answered packed = Ask("GET", "/", "Accept-Encoding: gzip, br\r\n");
  EXPECT_EQ(packed.status, 200);
  // A build without Node.js has one short page, which is never compressed.
  if (packed.body == plain.body) return;
  EXPECT_THAT(packed.head, HasSubstr("Content-Encoding: gzip"));
  EXPECT_EQ(Gunzip(packed.body), plain.body);
  for (const Answered& answer : {plain, packed}) {
    EXPECT_THAT(answer.head, HasSubstr("Vary: Accept-Encoding"));
  }
  const auto tag = [](const Answered& answer) {
    const std::size_t at = answer.head.find("ETag: ");
    return at == std::string::npos ? "" : answer.head.substr(at, answer.head.find('\r', at) - at);
  };
  EXPECT_NE(tag(plain), tag(packed));
}

TEST_F(WebServerTest, CompressesAStreamOnlyIfTheRequestAcceptsGzip) {
  const auto agent = Opened("job");
  Await("job");
  for (const auto& [accepted, packed] :
       {std::pair("gzip;q=0", false), std::pair("identity", false), std::pair("gzip", true)}) {
    Connection connection(server_->port());
    connection.Send(
        Head("GET", "/api/jobs/job/watch", fmt::format("Accept-Encoding: {}\r\n\r\n", accepted)));
    ASSERT_TRUE(connection.ReadUntil("\r\n\r\n"));
    EXPECT_EQ(connection.read().find("Content-Encoding: gzip") != std::string::npos, packed)
        << accepted;
  }
}

TEST_F(WebServerTest, ServesAnIcon) {
  const Answered icon = Get("/favicon.ico");
  EXPECT_EQ(icon.status, 200);
  EXPECT_THAT(icon.head, HasSubstr("Content-Type: image/x-icon"));
  EXPECT_THAT(icon.body, StartsWith(std::string("\0\0\1\0\1\0", 6)));
}

TEST_F(WebServerTest, ReportsAtOnceThatAJobDoesNotExist) {
  for (const char* path : {"/api/jobs/none", "/api/jobs/none/watch?deltas=true&interval_min=1s",
                           "/api/jobs/none/watch?resume_token=1-1"}) {
    const Answered answer = Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(answer.body, HasSubstr("no job none")) << path;
  }
}

TEST_F(WebServerTest, SetsTheDeadlineOfAJob) {
  auto agent = Opened("job-1");
  Await("job-1");
  const auto set = [&](const std::string& job, const std::string& body) {
    return Ask("POST", "/api/jobs/" + job + "/deadline", "Content-Type: application/json\r\n", body)
        .status;
  };
  const std::string deadline = "2031-01-01T00:00:00Z";
  const std::string body = fmt::format(R"({{"deadline_at":"{}"}})", deadline);
  EXPECT_EQ(Json::parse(Get("/api/jobs/job-1").body)["may_report"], true);
  EXPECT_EQ(set("job-1", "{}"), 400);
  EXPECT_EQ(set("none", body), 404);
  EXPECT_EQ(set("job-1", body), 200);
  EXPECT_TRUE(Eventually([&] {
    return Json::parse(Get("/api/jobs/job-1").body)["snapshot"]["deadline_at"] == deadline;
  }));
}

TEST_F(WebServerTest, SummarizesAJob) {
  auto agent = Opened("job-1");
  Await("job-1");
  EXPECT_EQ(Json::parse(Get("/api/jobs/job-1/summary").body)["text"], "") << "the job runs";
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  AwaitFinal("job-1");
  EXPECT_EQ(Json::parse(Get("/api/jobs/job-1/summary").body)["text"], "") << "the job was short";
  EXPECT_EQ(Get("/api/jobs/none/summary").status, 404);
}

TEST_F(WebServerTest, ComparesTwoRuns) {
  for (const char* id : {"job-1", "job-2"}) {
    auto agent = Opened(id);
    agent->CloseJob(JobOutcome::kSucceeded, "");
    agent->Shutdown();
    AwaitFinal(id);
  }
  const Json rows = Json::parse(Get("/api/jobs/job-2/comparison?other_job_id=job-1").body)["rows"];
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0]["what"], "time");
  EXPECT_EQ(Get("/api/jobs/job-2/comparison").status, 400);
  EXPECT_EQ(Get("/api/jobs/none/comparison?other_job_id=job-1").status, 404);
}

TEST_F(WebServerTest, RejectsInvalidRequests) {
  const auto status = [&](const std::string& method, const std::string& path,
                          const std::string& headers = "", const std::string& body = "") {
    return Ask(method, path, headers, body).status;
  };
  for (const char* path : {"/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/api/../etc/passwd",
                           "/etc/passwd", "/api", "/api/jobs/a/b", "/app.js%00.html", "/.git"}) {
    const int code = status("GET", path);
    EXPECT_TRUE(code == 404 || code == 400) << path << ": " << code;
  }
  EXPECT_EQ(status("GET", "/api/jobs?page_size=x"), 400);
  EXPECT_EQ(status("GET", "/api/jobs?page_token=..%2f.."), 400);
  EXPECT_EQ(status("GET", "/api/jobs?nothing=1"), 400);
  EXPECT_EQ(status("GET", "/api/jobs?view=%ff"), 400);
  EXPECT_EQ(status("PUT", "/api/jobs"), 405);
  EXPECT_EQ(status("POST", "/"), 405);
  EXPECT_EQ(status("GET", "/api/jobs/x/watch?resume_token=%2e%2e"), 400);
  EXPECT_EQ(status("POST", "/api/jobs/x/estimate", "", "{}"), 400);
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(status("POST", "/api/jobs/x/estimate", json, "{"), 400);
  EXPECT_EQ(status("POST", "/api/jobs/x/estimate", json, std::string(10'000, '[')), 400);
  EXPECT_EQ(status("POST", "/api/jobs/x/estimate", json, std::string(100'000, ' ')), 413);
  EXPECT_EQ(status("POST", "/api/jobs/x/estimate", json, "{}"), 404);
  const int large = status("GET", "/api/jobs", "X: " + std::string(100'000, 'x') + "\r\n");
  EXPECT_TRUE(large == 0 || large == 413 || large == 431) << large;
  for (const char* bytes :
       {"\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02", "GET / HTTP/9.9\r\n\r\n"}) {
    Connection connection(server_->port());
    connection.Send(bytes);
  }
  EXPECT_EQ(status("GET", "/api/jobs"), 200) << "the server still responds";
}

TEST_F(WebServerTest, SendsTheNewestSnapshotToASlowReader) {
  auto agent = Agent::Create({.master_address = master_->address(), .job_id = "job-1"});
  std::vector<StageOpened> stages;  // yields 100 kB per update
  for (std::uint32_t i = 0; i < 200; ++i) {
    stages.push_back({.stage = i, .name = std::string(200, 'n'), .task_count = 1});
  }
  agent->OpenJob({.name = "job", .stages = stages});
  Await("job-1");
  auto slow = Watch("/api/jobs/job-1/watch", "", /*receive_buffer=*/1024);
  ASSERT_TRUE(slow->ReadUntil("event: update"));
  const std::uint64_t begin = master_->GetJob("job-1")->sequence;
  // Meanwhile, the master publishes snapshots.
  EXPECT_TRUE(Eventually([&] { return master_->GetJob("job-1")->sequence > begin + 50; }));
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  slow->EnlargeBuffer();
  ASSERT_TRUE(slow->ReadUntil("event: end"));
  const std::vector<Json> updates = UpdatesIn(slow->read());
  std::uint64_t skipped = 0;
  for (const Json& update : updates) {
    skipped += std::stoull(update["update"].value("skipped_snapshots", "0"));
  }
  EXPECT_GT(skipped, 0);
  EXPECT_TRUE(updates.back()["update"]["snapshot"]["final"].get<bool>());
}

TEST_F(WebServerTest, ServesDespiteIdleConnections) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 4096) GTEST_SKIP() << "too few descriptors";
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(std::make_unique<Connection>(server_->port()));
    ASSERT_TRUE(idle.back()->is_open());
    if (i % 2 == 0) idle.back()->Send("GET /api/jo");
  }
  EXPECT_EQ(Get("/api/jobs").status, 200);
  auto agent = Opened("job-1");
  Await("job-1");
  agent->Shutdown();
}

TEST_F(WebServerTest, ClosesSlowRequestsButNotStreams) {
  StartPage(/*has_tokens=*/false, /*silence_max=*/absl::Seconds(1));
  auto watcher = Watch("/api/watch");
  ASSERT_TRUE(watcher->ReadUntil("event: update"));
  Connection slow_head(server_->port());
  slow_head.Send("GET /api/jobs HTTP/1.1\r\nX: ");
  Connection slow_body(server_->port());
  slow_body.Send(Head("POST", "/api/jobs/job-1/estimate", "Content-Length: 60000\r\n") + "\r\n");
  EXPECT_TRUE(Eventually([&] {
    slow_head.Send("a");
    slow_body.Send("a");
    return slow_head.IsClosedByPeer() && slow_body.IsClosedByPeer();
  }));
  auto agent = Opened("job-1");
  EXPECT_TRUE(watcher->ReadUntil("job-1"));
  agent->Shutdown();
}

TEST_F(WebServerTest, EndsStreamsWithTheServer) {
  auto agent = Opened("job-1");
  Await("job-1");
  auto job = Watch("/api/jobs/job-1/watch");
  auto jobs = Watch("/api/watch");
  auto missing = Watch("/api/jobs/nobody/watch?wait_for_job=true");
  ASSERT_TRUE(job->ReadUntil("event: update"));
  ASSERT_TRUE(jobs->ReadUntil("event: update"));
  server_.reset();
  job->ReadAll();
  jobs->ReadAll();
  EXPECT_THAT(missing->ReadAll(), testing::AnyOf(StartsWith("HTTP/1.1 503"), testing::IsEmpty()));
  StartPage(false);
  EXPECT_EQ(Get("/api/jobs").status, 200);
  agent->Shutdown();
}

// A server that stops answers requests whose streams have not begun. The call behind a stream ends
// only after `on_gone`.
TEST(WebServer, AStreamOfAnAnsweredRequestIsGone) {
  std::atomic<bool> is_gone = false;
  const auto server =
      HttpServer::Start({.address = "127.0.0.1:0"}, [&](const std::shared_ptr<Exchange>& exchange) {
        exchange->Answer({.status = 503});
        exchange->BeginStream({.on_gone = [&] { is_gone = true; }});
      });
  ASSERT_TRUE(server.ok()) << server.status();
  Connection connection((*server)->port());
  connection.Send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Parsed(connection.ReadAll()).status, 503);
  EXPECT_TRUE(is_gone);
}

TEST(WebServer, FreesItsAddressIfItCannotStart) {
  HttpOptions options = {.address = "127.0.0.1:0"};
  {
    const auto server = HttpServer::Start(options, [](std::shared_ptr<Exchange>) {});
    ASSERT_TRUE(server.ok()) << server.status();
    options.address = fmt::format("127.0.0.1:{}", (*server)->port());
  }
  options.certificate = options.key = "not PEM";
  EXPECT_FALSE(HttpServer::Start(options, [](std::shared_ptr<Exchange>) {}).ok());
  EXPECT_TRUE(transport::CanListen(options.address).ok()) << transport::CanListen(options.address);
}

// Expects that all names and types in `value` are in `schema`.
void ExpectMatches(const Json& value, const Json& schema, const Json& all,
                   const std::string& where) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(21);
    ASSERT_TRUE(all.contains(name)) << where << ": " << name;
    return ExpectMatches(value, all[name], all, where);
  }
  const std::string type = schema["type"];
  if (type == "object") {
    ASSERT_TRUE(value.is_object()) << where;
    for (const auto& [name, field] : value.items()) {
      if (schema.contains("properties")) {
        ASSERT_TRUE(schema["properties"].contains(name)) << where << ": " << name;
        ExpectMatches(field, schema["properties"][name], all, where + "." + name);
      } else {
        ExpectMatches(field, schema["additionalProperties"], all, where + "." + name);
      }
    }
  } else if (type == "array") {
    ASSERT_TRUE(value.is_array()) << where;
    for (const Json& element : value) ExpectMatches(element, schema["items"], all, where + "[]");
  } else if (type == "string") {
    ASSERT_TRUE(value.is_string()) << where;
    if (schema.contains("enum")) {
      EXPECT_THAT(schema["enum"].get<std::vector<std::string>>(),
                  testing::Contains(value.get<std::string>()))
          << where;
    }
  } else if (type == "boolean") {
    EXPECT_TRUE(value.is_boolean()) << where;
  } else if (type == "integer") {
    EXPECT_TRUE(value.is_number_integer()) << where;
  } else {
    EXPECT_EQ(type, "number") << where;
    EXPECT_TRUE(value.is_number()) << where;
  }
}

TEST_F(WebServerTest, MatchesItsOpenApiDescription) {
  auto agent = Opened("job-1");
  Await("job-1");
  const Json api = Json::parse(Get("/api/openapi.json").body);
  EXPECT_EQ(api["openapi"], "3.0.3");
  const Json& schemas = api["components"]["schemas"];
  const std::string json = "Content-Type: application/json\r\n";
  int answers = 0;
  for (const auto& [path, methods] : api["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (!operation["responses"].contains("200")) continue;
      const Json& answer = operation["responses"]["200"];
      if (!answer.contains("content")) continue;
      std::string address = path;
      if (const auto place = address.find("{job_id}"); place != std::string::npos) {
        address.replace(place, 8, "job-1");
      }
      const std::string kind = answer["content"].begin().key();
      const Json& content = answer["content"].begin().value();
      ++answers;
      if (kind == "text/event-stream") {
        auto stream = Watch(address);
        ASSERT_TRUE(stream->ReadUntil("\n\r\n")) << address;
        ASSERT_TRUE(stream->ReadUntil("\n\n\r\n"));
        ASSERT_FALSE(UpdatesIn(stream->read()).empty()) << stream->read();
        ExpectMatches(UpdatesIn(stream->read()).front(), content["schema"], schemas, address);
        continue;
      }
      const std::string body = path == "/api/session" ? R"({"token":"any"})"
                               : path.ends_with("/deadline")
                                   ? R"({"deadline_at":"2031-01-01T00:00:00Z"})"
                                   : "{}";
      if (path.ends_with("/comparison")) address += "?other_job_id=job-1";
      const Answered got = method == "get" ? Get(address) : Ask("POST", address, json, body);
      EXPECT_EQ(got.status, 200) << method << " " << address << got.body;
      ExpectMatches(Json::parse(got.body), content["schema"], schemas, address);
      for (const Json& parameter : operation.value("parameters", Json::array())) {
        const std::string name = parameter["name"];
        if (parameter["in"] != "query") continue;
        // The field is known, although the value may be invalid.
        EXPECT_THAT(Get(address + "?" + name + "=%7f").body, Not(HasSubstr("no such field")));
      }
    }
  }
  EXPECT_EQ(answers, 14);
  ExpectMatches(Json::parse(Get("/api/jobs/nobody").body), schemas["tidemark.web.v1.Problem"],
                schemas, "problem");
  agent->Shutdown();
}

}  // namespace
}  // namespace tidemark::web::web_server_test
