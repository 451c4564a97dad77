#include "read/files.h"

#include <algorithm>
#include <filesystem>

#include "base/byte_source.h"
#include "read/dftracer.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

bool looks_like_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

}  // namespace

Result<std::vector<std::string>> files_of(std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error), end;
         it != end && !error; it.increment(error))
      if (it->is_regular_file(error) && looks_like_trace(it->path())) found.push_back(it->path().string());
    if (found.empty()) return Error{"no trace file (*.json, *.json.gz) is below this directory", path};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::int64_t bytes_of(const std::vector<std::string>& files) {
  std::int64_t total = 0;
  for (const std::string& path : files) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) return -1;
    total += static_cast<std::int64_t>(size);
  }
  return total;
}

Result<ParsedFile> parse_file(const std::string& path, const KinetoOptions& options) {
  constexpr std::size_t kHead = std::size_t{1} << 16;
  auto source = open_bytes(path);
  if (!source) return source.error();
  if (is_dftracer(peek(*source, kHead)))
    return Error{
        "is a DFTracer file, which this version does not read; record the job with torch.profiler and give "
        "the file that its export_chrome_trace wrote",
        path};
  const auto reopen = [&] {
    return *source ? Result<std::unique_ptr<ByteSource>>(std::move(*source)) : open_bytes(path);
  };
  return parse_kineto(path, reopen, options);
}

}  // namespace stepscope::read
