#include "record/text/worker_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace stepscope::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".worker", kEnding = ".stepscope";
constexpr std::size_t kMax = 4096;  // files of one recording

/// True for `stem` + ".worker" + anything + ".stepscope".
bool is_named(std::string_view name, std::string_view stem) {
  return name.starts_with(stem) && name.substr(stem.size()).starts_with(kMark) && name.ends_with(kEnding);
}

}  // namespace

std::vector<const Recording*> Workers::recordings() const {
  std::vector<const Recording*> out;
  for (const RecordingFile& file : files) out.push_back(&file.recording());
  return out;
}

std::vector<std::string> Workers::notes() const {
  std::vector<std::string> out;
  for (const RecordingFile& file : files)
    for (const std::string& note : file.recording().notes())
      out.push_back("DataLoader worker " + std::to_string(file.recording().worker()) + ": " + note);
  return out;
}

Workers workers_of(const std::string& path, const Recording& recording) {
  const fs::path own(path);
  const std::string stem = own.stem().string();
  const fs::path folder = own.has_parent_path() ? own.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error && names.size() < kMax;
       it.increment(error))
    if (is_named(it->path().filename().string(), stem)) names.push_back(it->path().string());
  std::sort(names.begin(), names.end());
  Workers out;
  for (const std::string& name : names) {
    auto file = RecordingFile::open(name);
    if (!file || file->recording().parent() != recording.pid() || file->recording().parent() == 0 ||
        file->recording().host() != recording.host())
      continue;
    file->take_times_of(recording);
    out.files.push_back(std::move(*file));
  }
  return out;
}

bool is_workers(const std::string& path) {
  if (fs::path(path).filename().string().find(kMark) == std::string::npos || !path.ends_with(kEnding))
    return false;
  const auto file = RecordingFile::open(path);
  return file && file->recording().parent() != 0;
}

bool is_later_cycle(const std::string& path) {
  const fs::path file(path);
  const std::string number = file.stem().extension().string();
  if (file.extension() != kEnding || number.size() < 2 ||
      number.find_first_not_of("0123456789", 1) != std::string::npos)
    return false;
  const auto first =
      RecordingFile::open((file.parent_path() / file.stem().stem()).string() + std::string(kEnding));
  const auto later = RecordingFile::open(path);
  return first && later && first->recording().pid() == later->recording().pid() &&
         first->recording().host() == later->recording().host();
}

}  // namespace stepscope::record
