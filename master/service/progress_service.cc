#include "master/service/progress_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "master/service/grpc_status.h"
#include "master/service/watch_stream.h"
#include "proto/wire/snapshot_codec.h"

namespace tidemark::service {
namespace {

constexpr std::size_t kPageSize = 100;
constexpr std::size_t kPageSizeMax = 1000;

using WatchStream = BasicWatchStream<Snapshot, v1::WatchJobResponse>;

// A page ends with a job and the next begins behind it, wherever that is by then: a token names the
// job, not a position.
struct PageEnd {
  std::uint64_t run = 0;
  std::string job_id;
  bool IsBefore(std::uint64_t its_run, const std::string& its_id) const {
    return std::tie(its_run, its_id) < std::tie(run, job_id);
  }
};

std::string PageToken(const JobView& last) {
  return fmt::format("{}/{}", last.run, last.newest.job_id);
}

// Empty: not a token of ours.
std::optional<PageEnd> ParsePageToken(const std::string& token) {
  if (token.empty()) return PageEnd{.run = std::numeric_limits<std::uint64_t>::max(), .job_id = ""};
  PageEnd page_end;
  const char* const last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, page_end.run);
  if (error != std::errc() || end == last || *end != '/') return std::nullopt;
  page_end.job_id.assign(end + 1, last);
  return page_end;
}

}  // namespace

absl::Status ProgressService::MayRead(absl::StatusOr<Gate::AdmittedCall>& call,
                                      const std::string& job_id, const std::string& peer) {
  if (!call.ok()) return call.status();
  absl::Status allowed = call->caller.Check(Right::kRead, job_id);
  return allowed.ok() ? allowed : gate_.Refuse(std::move(allowed), peer);
}

grpc::ServerUnaryReactor* ProgressService::GetJob(grpc::CallbackServerContext* context,
                                                  const v1::GetJobRequest* request,
                                                  v1::GetJobResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  absl::StatusOr<Gate::AdmittedCall> call = gate_.Ask(*context);
  if (absl::Status allowed = MayRead(call, request->job_id(), context->peer()); !allowed.ok()) {
    reactor->Finish(ToGrpc(allowed));
    return reactor;
  }
  const absl::StatusOr<Snapshot> snapshot = jobs_.Get(request->job_id());
  if (snapshot.ok()) wire::EncodeSnapshot(*snapshot, *response->mutable_snapshot());
  reactor->Finish(ToGrpc(snapshot.status()));
  return reactor;
}

grpc::ServerUnaryReactor* ProgressService::ListJobs(grpc::CallbackServerContext* context,
                                                    const v1::ListJobsRequest* request,
                                                    v1::ListJobsResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const absl::StatusOr<Gate::AdmittedCall> call = gate_.Ask(*context);
  if (!call.ok()) {
    reactor->Finish(ToGrpc(call.status()));
    return reactor;
  }
  const std::optional<PageEnd> before = ParsePageToken(request->page_token());
  if (!before) {
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT,
                     "page_token: not one of this master; start without one"});
    return reactor;
  }
  const std::size_t page_size = request->page_size() == 0
                                    ? kPageSize
                                    : std::min<std::size_t>(request->page_size(), kPageSizeMax);
  // One more, to know whether another page follows.
  const std::vector<JobView> jobs = jobs_.Views(
      [&](std::uint64_t run, const std::string& job_id) {
        return before->IsBefore(run, job_id) && call->caller.MayRead(job_id);
      },
      page_size + 1);
  const std::size_t end = std::min(page_size, jobs.size());
  for (std::size_t i = 0; i < end; ++i) {
    wire::EncodeSnapshot(jobs[i].newest, *response->add_snapshots());
  }
  if (end < jobs.size()) response->set_next_page_token(PageToken(jobs[end - 1]));
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* ProgressService::WatchJob(
    grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) {
  absl::StatusOr<AdmittedStream> admitted = gate_.AdmitWatcher(*context);
  if (!admitted.ok()) return new RefusedWatch<v1::WatchJobResponse>(admitted.status());
  if (absl::Status allowed = admitted->caller.Check(Right::kRead, request->job_id());
      !allowed.ok()) {
    return new RefusedWatch<v1::WatchJobResponse>(
        gate_.Refuse(std::move(allowed), context->peer()));
  }
  const absl::StatusOr<ResumePoint> from =
      WatchFrom(request->after_sequence(), request->resume_token());
  if (!from.ok()) return new RefusedWatch<v1::WatchJobResponse>(from.status());
  WatchStream* stream =
      WatchStream::Start(hub_, metrics_, *std::move(admitted), request->job_id(), *from);
  stream->Begin([&]() -> absl::StatusOr<JobView> {
    absl::StatusOr<JobView> job = jobs_.Look(request->job_id());
    const bool is_another =
        job.ok() && !request->run_uid().empty() && job->newest.run_uid != request->run_uid();
    if (!is_another) return job;
    return absl::NotFoundError(
        fmt::format("no run {} of job {}", request->run_uid(), request->job_id()));
  });
  return stream;
}

}  // namespace tidemark::service
