#include "bench/workflow/trace.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tidemark::bench {

void Finish(Trace& trace) {
  trace.end = 0;
  for (TraceStage& stage : trace.stages) {
    std::stable_sort(stage.tasks.begin(), stage.tasks.end(),
                     [](const TraceTask& a, const TraceTask& b) { return a.start < b.start; });
    for (const TraceTask& task : stage.tasks) trace.end = std::max(trace.end, task.end);
  }
}

placement::Resourcing ResourcingOf(const Trace& trace) {
  return {.cluster = {.capacity = {.cores = trace.slots}, .policy = trace.policy}};
}

double EndOfOwner(const Trace& trace, std::size_t owner) {
  double end = 0;
  for (const TraceStage& stage : trace.stages) {
    if (stage.owner != owner) continue;
    for (const TraceTask& task : stage.tasks) end = std::max(end, task.end);
  }
  return end;
}

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 31;

absl::StatusOr<std::string> ReadZstd(const std::string& path, const std::string& packed) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::string unpacked;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(result) != 0) {
      return absl::DataLossError(absl::StrCat(path, ": ", ZSTD_getErrorName(result)));
    }
    unpacked.append(piece, 0, out.pos);
    if (unpacked.size() > kLargest) return absl::ResourceExhaustedError(path);
  }
  return unpacked;
}

absl::StatusOr<std::string> ReadGzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return absl::NotFoundError(path);
  std::string unpacked;
  std::string piece(1 << 16, '\0');
  int read = 0;
  while ((read = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0) {
    unpacked.append(piece, 0, static_cast<std::size_t>(read));
    if (unpacked.size() > kLargest) break;
  }
  gzclose(file);
  if (read < 0) return absl::DataLossError(absl::StrCat(path, ": not a gzip file"));
  if (unpacked.size() > kLargest) return absl::ResourceExhaustedError(path);
  return unpacked;
}

}  // namespace

absl::StatusOr<std::string> ReadUnpacked(const std::string& path) {
  if (path.ends_with(".gz")) return ReadGzip(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return path.ends_with(".zst") ? ReadZstd(path, bytes) : bytes;
}

}  // namespace tidemark::bench
