#include "record/text/worker_files.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace stepscope::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".worker", kEnding = ".stepscope";
constexpr std::string_view kIoMark = "io-";
constexpr std::size_t kMax = 4096;  // files of one recording

std::vector<std::string> recordings_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error && names.size() < 4 * kMax;
       it.increment(error))
    if (it->path().filename().string().ends_with(kEnding)) names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_io(std::string_view name) { return name.starts_with(kIoMark) && name.ends_with(kEnding); }

/// io-PID-TIME.stepscope
std::string_view time_in(std::string_view name) {
  name.remove_suffix(kEnding.size());
  return name.substr(name.rfind('-') + 1);
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The I/O recordings among `names` that belong to the processes of `out` and of `recording`.
void add_io(Workers& out, const fs::path& own, const std::vector<std::string>& names,
            const Recording& recording) {
  std::vector<RecordingFile> found;
  for (const std::string& name : names) {
    if (!is_io(name) || name == own.filename().string() || found.size() == kMax) continue;
    auto file = RecordingFile::open((folder_of(own) / name).string());
    if (!file || (file->recording().flags() & kIo) == 0 || file->recording().host() != recording.host())
      continue;
    found.push_back(std::move(*file));
  }
  const bool takes_all = (recording.flags() & kIo) != 0;
  std::set<std::uint32_t> pids{recording.pid()};
  for (const RecordingFile& worker : out.files) pids.insert(worker.recording().pid());
  for (std::size_t before = 0; !takes_all && before != pids.size();) {
    before = pids.size();
    for (const RecordingFile& file : found)
      if (pids.contains(file.recording().parent())) pids.insert(file.recording().pid());
  }
  for (RecordingFile& file : found) {
    if (!takes_all && !pids.contains(file.recording().pid())) continue;
    file.take_times_of(recording);
    out.files.push_back(std::move(file));
  }
}

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
      out.push_back(((file.recording().flags() & kIo) != 0
                         ? "I/O of process " + std::to_string(file.recording().pid())
                         : "DataLoader worker " + std::to_string(file.recording().worker())) +
                    ": " + note);
  return out;
}

Workers workers_of(const std::string& path, const Recording& recording) {
  const fs::path own(path);
  const std::string stem = own.stem().string();
  const std::vector<std::string> names = recordings_in(folder_of(own));
  Workers out;
  for (const std::string& name : names) {
    if (!is_named(name, stem) || out.files.size() == kMax) continue;
    auto file = RecordingFile::open((folder_of(own) / name).string());
    if (!file || file->recording().parent() != recording.pid() || file->recording().parent() == 0 ||
        file->recording().host() != recording.host())
      continue;
    file->take_times_of(recording);
    out.files.push_back(std::move(*file));
  }
  add_io(out, own, names, recording);
  return out;
}

bool is_workers(const std::string& path) {
  const fs::path own(path);
  if (const std::string name = own.filename().string(); is_io(name)) {
    for (const std::string& other : recordings_in(folder_of(own)))
      if (!is_io(other) || time_in(other) < time_in(name)) return true;
    return false;
  }
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
