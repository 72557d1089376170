#include "spark/log_files.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "spark/event_scanner.h"
#include "spark/log_text.h"

namespace tidemark::spark {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "eventlog_v2_";
constexpr std::string_view kFile = "events_";
constexpr std::string_view kCompacted = ".compact";
constexpr std::string_view kStatusFile = "appstatus_";
constexpr std::string_view kInArchive = "!/";

struct ArchiveDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, ArchiveDiscard>;

struct EntryClose {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

absl::StatusOr<Archive> OpenArchive(const std::string& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive != nullptr) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string message =
      fmt::format("{}: damaged zip archive: {}", path, zip_error_strerror(&error));
  zip_error_fini(&error);
  if (code == ZIP_ER_NOENT) return absl::NotFoundError(message);
  if (code == ZIP_ER_OPEN || code == ZIP_ER_READ) return absl::UnavailableError(message);
  return absl::DataLossError(message);
}

struct Part {
  std::uint64_t number = 0;
  bool is_compacted = false;
  std::string path;
};

std::optional<Part> PartAt(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kFile)) return std::nullopt;
  Part part = {.is_compacted = name.ends_with(kCompacted), .path = path.string()};
  const char* const from = name.data() + kFile.size();
  const auto [end, error] = std::from_chars(from, name.data() + name.size(), part.number);
  if (error != std::errc() || end == name.data() + name.size() || *end != '_') return std::nullopt;
  return part;
}

// Names of Databricks' log files: that of the newest, and the prefix of earlier ones, which ends
// with a date.
constexpr std::string_view kNewest = "eventlog";
constexpr std::string_view kDated = "eventlog-";
// Limits on visited folders and entries, for folders that contain other data than logs.
constexpr int kFolderDepthMax = 4;
constexpr std::size_t kEntriesMax = 200'000;
// Maximum number of files that are read to find the only log among them.
constexpr std::size_t kCandidatesMax = 1000;
// Maximum number of logs that an error names.
constexpr std::size_t kNamedMax = 5;
// Number of bytes at the beginning of a file that show whether it is a log.
constexpr std::uint64_t kBeginBytes = std::uint64_t{256} << 10;

bool IsDated(std::string_view name) {
  return name.starts_with(kDated) && name.size() > kDated.size() && name[kDated.size()] >= '0' &&
         name[kDated.size()] <= '9';
}

std::string NameOfFile(const std::string& file) { return fs::path(file).filename().string(); }

// Returns the name without suffixes for compression and state.
std::string WithoutPacking(std::string name) {
  for (bool is_shorter = true; is_shorter;) {
    is_shorter = false;
    for (const std::string_view ending :
         {".compact", ".inprogress", ".zstd", ".zst", ".lz4", ".lzf", ".snappy", ".gz"}) {
      if (!name.ends_with(ending)) continue;
      name.resize(name.size() - ending.size());
      is_shorter = true;
    }
  }
  return name;
}

// Returns the application of a file of a rolled log, which is the part of its name after the
// number.
std::string ApplicationOf(const std::string& name) {
  return WithoutPacking(name.substr(name.find('_', kFile.size()) + 1));
}

// Lists the files in a folder and its subfolders.
class FolderList {
 public:
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) {
    if (const std::error_code error = Add(folder, 0); error) {
      return absl::InvalidArgumentError(fmt::format("cannot read {}: {}", folder, error.message()));
    }
    if (entries_ <= kEntriesMax) return std::move(files_);
    return absl::InvalidArgumentError(
        fmt::format("{} contains more than {} files and folders; pass a folder of event logs",
                    folder, kEntriesMax));
  }

 private:
  // Adds the files of a folder. Skips subfolders that cannot be read.
  std::error_code Add(const fs::path& folder, int depth) {
    std::error_code error;
    std::vector<fs::path> folders;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++entries_ > kEntriesMax) return error;
      std::error_code ignored;
      if (at->path().filename().string().starts_with(".")) continue;
      if (at->is_directory(ignored)) {
        folders.push_back(at->path());
      } else if (at->is_regular_file(ignored)) {
        files_.push_back(at->path().string());
      }
    }
    for (const fs::path& below : folders) {
      if (depth < kFolderDepthMax) Add(below, depth + 1);
    }
    return error;
  }

  std::vector<std::string> files_;
  std::size_t entries_ = 0;
};

// Returns the files in an archive in a folder. Returns the archive itself if it is damaged,
// contains programs (a jar), or contains more than `most` files.
std::vector<std::string> Opened(std::string archive, std::size_t most) {
  absl::StatusOr<std::vector<std::string>> files = FilesInArchive(archive);
  const std::string manifest = archive + "!/META-INF/";
  const bool is_usable = files.ok() && files->size() <= most &&
                         std::none_of(files->begin(), files->end(), [&](const std::string& file) {
                           return file.starts_with(manifest);
                         });
  if (is_usable) return *std::move(files);
  return {std::move(archive)};
}

// Replaces archives by the files in them. Keeps archives in the folder of a rolled log, since Spark
// did not write them.
std::vector<std::string> WithArchivesOpened(std::vector<std::string> files) {
  std::vector<std::string> opened;
  for (std::string& file : files) {
    const bool is_rolled = NameOfFile(fs::path(file).parent_path().string()).starts_with(kFolder);
    if (is_rolled || !IsArchive(file)) {
      opened.push_back(std::move(file));
      continue;
    }
    const std::size_t most = kEntriesMax - std::min(kEntriesMax, opened.size());
    for (std::string& inside : Opened(std::move(file), most)) opened.push_back(std::move(inside));
  }
  return opened;
}

// Returns the files of a rolled log by number. A file that Spark has compacted replaces all files
// before it.
std::vector<std::string> InOrder(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tuple(a.number, !a.is_compacted, a.path) <
           std::tuple(b.number, !b.is_compacted, b.path);
  });
  // A file and its compressed copy contain the same events.
  const auto is_copy = [](const Part& a, const Part& b) {
    return a.number == b.number && a.is_compacted == b.is_compacted && b.path.starts_with(a.path);
  };
  parts.erase(std::unique(parts.begin(), parts.end(), is_copy), parts.end());
  const auto compacted = std::find_if(parts.rbegin(), parts.rend(),
                                      [](const Part& part) { return part.is_compacted; });
  if (compacted != parts.rend()) {
    const Part from = *compacted;
    std::erase_if(parts, [&](const Part& part) {
      return part.number < from.number || (part.number == from.number && !part.is_compacted);
    });
  }
  std::vector<std::string> files;
  for (Part& part : parts) files.push_back(std::move(part.path));
  return files;
}

// Sorts the files and removes compressed copies of other files, such as `a.gz` if `a` exists.
void RemoveCopies(std::vector<std::string>& files) {
  std::sort(files.begin(), files.end());
  const auto is_copy = [](const std::string& a, const std::string& b) {
    return b.starts_with(a + ".") || WithoutPacking(a) == WithoutPacking(b);
  };
  files.erase(std::unique(files.begin(), files.end(), is_copy), files.end());
}

// Appends the logs that the files of one folder form.
void AddLogs(const fs::path& folder, std::vector<std::string> files, std::vector<LogFiles>& logs) {
  std::map<std::string, std::vector<Part>> rolled;  // by application
  std::vector<std::string> dated;
  std::vector<std::string> others;
  for (std::string& file : files) {
    const std::string name = NameOfFile(file);
    if (auto part = PartAt(file)) {
      rolled[ApplicationOf(name)].push_back(*std::move(part));
    } else if (IsDated(name)) {
      dated.push_back(std::move(file));
    } else if (!name.starts_with(kStatusFile)) {
      others.push_back(std::move(file));
    }
  }
  const bool is_alone = rolled.size() == 1;
  for (auto& [application, parts] : rolled) {
    std::vector<std::string> in_order = InOrder(std::move(parts));
    // The path of a single rolled log is its folder, as Spark created it.
    std::string path = is_alone ? folder.string() : in_order.front();
    logs.push_back({.path = std::move(path), .files = std::move(in_order)});
  }
  if (!dated.empty()) {
    std::vector<std::string> newest;
    std::erase_if(others, [&](const std::string& file) {
      const bool is_newest = WithoutPacking(NameOfFile(file)) == kNewest;
      if (is_newest) newest.push_back(file);
      return is_newest;
    });
    RemoveCopies(dated);
    RemoveCopies(newest);
    dated.insert(dated.end(), newest.begin(), newest.end());
    logs.push_back({.path = folder.string(), .files = std::move(dated)});
  }
  // Other files in the folder of a rolled log were not written by Spark.
  if (is_alone && NameOfFile(folder.string()).starts_with(kFolder)) return;
  for (std::string& file : others) logs.push_back({.path = file, .files = {file}});
}

}  // namespace

bool IsArchive(const std::string& path) {
  char begin[4] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof(begin));
  const std::string_view magic(begin, sizeof(begin));
  return magic == "PK\x03\x04" || magic == "PK\x05\x06";
}

bool IsInArchive(const std::string& file) {
  const std::size_t at = file.find(kInArchive);
  return at != std::string::npos && IsArchive(file.substr(0, at));
}

absl::StatusOr<std::vector<std::string>> FilesInArchive(const std::string& path) {
  absl::StatusOr<Archive> archive = OpenArchive(path);
  if (!archive.ok()) return archive.status();
  std::vector<std::string> files;
  const zip_int64_t count = zip_get_num_entries(archive->get(), 0);
  for (zip_int64_t i = 0; i < count && files.size() < kArchivedFilesMax; ++i) {
    const char* const name =
        zip_get_name(archive->get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    if (name == nullptr) continue;
    const std::string_view text = name;
    if (!text.empty() && !text.ends_with('/'))
      files.push_back(fmt::format("{}{}{}", path, kInArchive, text));
  }
  return files;
}

struct ArchivedFile::Impl {
  std::string file;
  Archive archive;
  std::unique_ptr<zip_file_t, EntryClose> entry;  // closed before its archive
};

ArchivedFile::ArchivedFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ArchivedFile::~ArchivedFile() = default;

absl::StatusOr<std::unique_ptr<ArchivedFile>> ArchivedFile::Open(const std::string& file) {
  const std::size_t at = file.find(kInArchive);
  absl::StatusOr<Archive> archive = OpenArchive(file.substr(0, at));
  if (!archive.ok()) return archive.status();
  auto impl =
      std::make_unique<Impl>(Impl{.file = file, .archive = *std::move(archive), .entry = {}});
  const std::string name = file.substr(at + kInArchive.size());
  impl->entry.reset(zip_fopen(impl->archive.get(), name.c_str(), ZIP_FL_ENC_RAW));
  if (impl->entry == nullptr) {
    zip_error_t* const error = zip_get_error(impl->archive.get());
    const std::string message = fmt::format("{}: {}", file, zip_error_strerror(error));
    const int code = zip_error_code_zip(error);
    if (code == ZIP_ER_NOENT) return absl::NotFoundError(message);
    const bool is_other = code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP ||
                          code == ZIP_ER_NOPASSWD || code == ZIP_ER_WRONGPASSWD;
    return is_other ? absl::UnimplementedError(message) : absl::DataLossError(message);
  }
  return std::unique_ptr<ArchivedFile>(new ArchivedFile(std::move(impl)));
}

absl::Status ArchivedFile::Read(std::size_t size, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + size);
  const zip_int64_t read = zip_fread(impl_->entry.get(), out.data() + before, size);
  out.resize(before + static_cast<std::size_t>(std::max<zip_int64_t>(read, 0)));
  if (read >= 0) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("{}: {}", impl_->file, zip_file_strerror(impl_->entry.get())));
}

bool IsBeingWritten(const std::string& file) {
  if (file.ends_with(kInProgress)) return true;
  if (!PartAt(file)) return false;
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(kStatusFile) && name.ends_with(kInProgress)) return true;
  }
  return false;
}

bool IsRollingLog(const std::string& path) {
  std::error_code error;
  return fs::path(path).filename().string().starts_with(kFolder) && fs::is_directory(path, error);
}

std::optional<std::string> FileAfter(const std::string& file) {
  const std::optional<Part> read = PartAt(file);
  if (!read) return std::nullopt;
  std::optional<Part> next;
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::optional<Part> part = PartAt(at->path());
    if (!part || part->number <= read->number) continue;
    if (!next || part->number < next->number) next = std::move(part);
  }
  if (!next) return std::nullopt;
  return next->path;
}

bool IsCompacted(const std::string& file) {
  const std::optional<Part> part = PartAt(file);
  return part && part->is_compacted;
}

std::string MissingRemark(const std::string& file, const std::string& next) {
  const std::optional<Part> after = PartAt(next);
  const std::optional<Part> before = file.empty() ? Part{} : PartAt(file);
  if (!after || !before || after->is_compacted || after->number <= before->number + 1) return "";
  const std::string name = fs::path(next).filename().string();
  const std::string rest = name.substr(name.find('_', kFile.size()));
  const auto name_of = [&](std::uint64_t number) {
    return fmt::format("{}{}{}", kFile, number, rest);
  };
  const std::uint64_t first = before->number + 1;
  const std::uint64_t last = after->number - 1;
  return first == last
             ? fmt::format("{} is missing, with all its events", name_of(first))
             : fmt::format("the {} files from {} to {} are missing, with all their events",
                           last - first + 1, name_of(first), name_of(last));
}

std::string CutRemark(const std::string& file, bool is_within_event, bool is_within_frame) {
  const std::string name = fs::path(file).filename().string();
  if (is_within_event) {
    return fmt::format(
        "{} ends within an event, which is lost; reading continues with the next file", name);
  }
  if (!is_within_frame) return "";
  return fmt::format("{} ends within a compressed frame; events at its end may be lost", name);
}

absl::StatusOr<std::vector<LogFiles>> LogsAt(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return absl::NotFoundError(fmt::format("{}: No such file or directory", path));
  }
  std::vector<std::string> files;
  if (fs::is_directory(status)) {
    absl::StatusOr<std::vector<std::string>> listed = FolderList().List(path);
    if (!listed.ok()) return listed.status();
    files = WithArchivesOpened(*std::move(listed));
  } else if (!fs::is_regular_file(status)) {
    return absl::InvalidArgumentError(
        fmt::format("{}: Not a regular file; pass a Spark event log", path));
  } else if (!IsArchive(path)) {
    return std::vector<LogFiles>{{.path = path, .files = {path}}};
  } else {
    absl::StatusOr<std::vector<std::string>> archived = FilesInArchive(path);
    if (!archived.ok()) return archived.status();
    files = *std::move(archived);
  }
  std::map<fs::path, std::vector<std::string>> by_folder;
  for (std::string& file : files) {
    by_folder[fs::path(file).parent_path()].push_back(std::move(file));
  }
  std::vector<LogFiles> logs;
  for (auto& [folder, in_folder] : by_folder) AddLogs(folder, std::move(in_folder), logs);
  std::sort(logs.begin(), logs.end(),
            [](const LogFiles& a, const LogFiles& b) { return a.path < b.path; });
  return logs;
}

absl::StatusOr<std::vector<std::string>> FilesOfLog(const std::string& path) {
  absl::StatusOr<std::vector<LogFiles>> logs = LogsAt(path);
  if (!logs.ok()) return logs.status();
  if (logs->size() > 1 && logs->size() <= kCandidatesMax) {
    std::erase_if(*logs, [](const LogFiles& log) { return !IsEventLog(log.files.front()); });
    // A file and its packed copies are one log. The plain file comes first.
    std::set<std::string> names;
    std::erase_if(*logs, [&](const LogFiles& log) {
      return log.files.size() == 1 && !names.insert(WithoutPacking(log.path)).second;
    });
  }
  if (logs->size() == 1) return std::move(logs->front().files);
  if (logs->empty()) {
    return absl::InvalidArgumentError(fmt::format("{} contains no Spark event log", path));
  }
  std::string names;
  for (std::size_t i = 0; i < logs->size() && i < kNamedMax; ++i) {
    names += fmt::format("{}{}", i > 0 ? ", " : "", (*logs)[i].path);
  }
  return absl::InvalidArgumentError(
      fmt::format("{} contains {} event logs ({}{}); pass one of them", path, logs->size(), names,
                  logs->size() > kNamedMax ? ", ..." : ""));
}

bool IsEventLog(const std::string& file) {
  LogText log({file}, /*follows=*/false);
  EventScanner scanner;
  bool has_event = false;
  while (log.bytes() < kBeginBytes && !has_event) {
    const absl::StatusOr<LogText::Step> step = log.Read();
    if (!step.ok() || *step == LogText::Step::kEnd) return has_event;
    if (*step != LogText::Step::kText) continue;
    scanner.Feed(log.text(), [&](std::string_view event) {
      has_event |= event.find("\"Event\"") != std::string_view::npos;
    });
  }
  // An event may be longer than the beginning.
  return has_event || scanner.is_inside();
}

}  // namespace tidemark::spark
