#include "spark/log_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace tidemark::spark {
namespace {

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

}  // namespace tidemark::spark
