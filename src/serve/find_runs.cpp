#include "serve/find_runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "read/files.h"
#include "read/job_files.h"
#include "serve/fingerprint.h"

namespace stepscope::serve {
namespace {

namespace fs = std::filesystem;

/// A file in a folder may be a link, but not to a place outside of that folder.
bool stays_inside(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return true;
  const fs::path target = fs::canonical(file, error);
  if (error) return false;
  const fs::path inside = fs::canonical(folder, error);
  const auto [end, rest] = std::mismatch(inside.begin(), inside.end(), target.begin(), target.end());
  return !error && end == inside.end();
}

/// "runs/a/b.json" below "runs" is "a/b.json"; the folder itself has its own name.
std::string name_below(const std::string& path, const std::string& folder) {
  const fs::path below = fs::path(path).lexically_relative(folder);
  if (below != "." && !below.empty()) return below.string();
  std::error_code error;
  return fs::canonical(folder, error).filename().string();
}

std::optional<FoundRun> run_of(std::string name, std::vector<std::string> files) {
  auto stamp = stamp_of(files);
  if (!stamp) return std::nullopt;
  return FoundRun{std::move(name), std::move(files), std::move(*stamp)};
}

void add(std::vector<FoundRun>& runs, std::optional<FoundRun> run) {
  if (run) runs.push_back(std::move(*run));
}

}  // namespace

std::optional<Stamp> stamp_of(const std::vector<std::string>& files) {
  Stamp stamp;
  std::string all = STEPSCOPE_VERSION;
  for (const std::string& file : files) {
    struct stat about{};
    if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    stamp.bytes += about.st_size;
    stamp.modified = std::max<std::int64_t>(stamp.modified, about.st_mtim.tv_sec);
    all += fmt::format("\n{}\n{} {} {}", file, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }
  stamp.hash = fingerprint(all).substr(0, 8);
  return stamp;
}

Result<RunFinder> RunFinder::below(std::vector<std::string> paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
      return Error{fmt::format("cannot be opened: {}", error ? error.message() : "there is no such file"),
                   path};
    if (!fs::is_regular_file(status) && !fs::is_directory(status))
      return Error{"is neither a file nor a folder; give files or folders", path};
  }
  return RunFinder(std::move(paths));
}

RunFinder::Kind RunFinder::kind_of(const std::string& file) {
  const auto stamp = stamp_of({file});
  if (!stamp) return {};
  const auto [known, is_new] = kinds_.try_emplace(stamp->hash);
  if (is_new) {
    const bool is_of_several = read::is_of_several(file);
    known->second = {is_of_several, !is_of_several && read::is_other_json(file)};
  }
  return known->second;
}

std::vector<FoundRun> RunFinder::below_folder(const std::string& folder) {
  std::vector<FoundRun> runs;
  const auto files = read::files_of(std::vector{folder}, read::kReadable);
  if (!files) return runs;  // none yet
  std::map<std::string, std::vector<std::string>> by_folder;
  for (const std::string& file : *files)
    if (stays_inside(file, folder) && !kind_of(file).is_other)
      by_folder[fs::path(file).parent_path().string()].push_back(file);
  for (auto& [parent, inside] : by_folder) {
    if (std::ranges::any_of(inside,
                            [this](const std::string& file) { return kind_of(file).is_of_several; })) {
      add(runs, run_of(name_below(parent, folder), std::move(inside)));
      continue;
    }
    for (const std::string& file : inside) add(runs, run_of(name_below(file, folder), {file}));
  }
  return runs;
}

std::vector<FoundRun> RunFinder::find() {
  std::vector<FoundRun> all;
  std::set<std::vector<std::string>> seen;  // by files
  for (const std::string& path : paths_) {
    std::error_code error;
    std::vector<FoundRun> runs;
    if (fs::is_directory(path, error))
      runs = below_folder(path);
    else
      add(runs, run_of(fs::path(path).filename().string(), {path}));
    for (FoundRun& run : runs)
      if (seen.insert(run.files).second) all.push_back(std::move(run));
  }
  return all;
}

}  // namespace stepscope::serve
