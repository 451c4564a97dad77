#include "read/files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_source.h"
#include "base/text.h"
#include "read/execution_trace/execution_trace.h"
#include "read/foreign.h"
#include "read/memory_timeline/memory_timeline.h"
#include "read/merged/file.h"
#include "read/merged/restore.h"
#include "read/pfw/pfw.h"
#include "read/recording_text.h"
#include "read/snapshot/memory_page.h"
#include "read/snapshot/snapshot.h"
#include "record/recording.h"
#include "record/text/worker_files.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = std::size_t{1} << 16;  // bytes from which the format is recognised

/// A merged file is read as the files that it was made of: those of ranks, or those of DFTracer if there is
/// no rank.
Result<Parsed> parse_merged(const std::string& path, MergedFile merged, const KinetoOptions& options) {
  Parsed parsed;
  std::optional<Error> first_error;
  KinetoOptions of_source = options;
  of_source.wide = true;             // restored ids may be larger than the merged ones
  std::vector<std::size_t> indices;  // by file: index of its source
  const bool ranks = std::ranges::any_of(merged.sources(), [](const auto& of) { return !of.foreign; });
  for (std::size_t i = 0; i < merged.sources().size(); ++i) {
    const MergedSource source = merged.sources()[i];
    if (source.foreign && (ranks || !source.dftracer)) {
      ++parsed.left_out;
      continue;
    }
    const std::string name = path + "/" + source.name;
    const auto reopen = [&] { return merged.section(i); };
    auto file =
        source.dftracer ? parse_pfw_section(name, reopen, of_source) : parse_kineto(name, reopen, of_source);
    if (!file) {
      if (!first_error) first_error = file.error();
      parsed.unread.push_back(file.error().text());
      continue;
    }
    restore_source(*file, source, merged.base_ns());
    parsed.files.push_back(std::move(*file));
    indices.push_back(i);
  }
  const bool cut_is_known =
      !parsed.unread.empty() || std::any_of(parsed.files.begin(), parsed.files.end(),
                                            [](const ParsedFile& f) { return !f.rank.reading.complete; });
  const MergedEnd end = merged.end(cut_is_known);
  for (std::size_t f = 0; f < indices.size(); ++f)
    count_merged(parsed.files[f].rank.reading, end.totals[indices[f]]);
  parsed.unread.insert(parsed.unread.end(), end.faults.begin(), end.faults.end());
  if (!parsed.files.empty()) return parsed;
  return first_error ? *first_error : Error{"holds no rank: none of its sources is a rank's trace", path};
}

/// Folders hold many pickles; only memory snapshots are recordings.
bool is_other_pickle(const std::string& path) {
  if (!has(path, ".pickle") && !path.ends_with(".pkl")) return false;
  auto source = open_bytes(path);
  return source && !is_snapshot(peek(*source, kHead));
}

Result<Parsed> alone(Result<ParsedFile> file) {
  if (!file) return file.error();
  Parsed parsed;
  parsed.files.push_back(std::move(*file));
  return parsed;
}

using Identity = std::pair<dev_t, ino_t>;

/// Device and inode of the file that a path leads to; nothing if it leads nowhere.
std::optional<Identity> identity(const std::string& path) {
  struct stat about{};
  if ((path == "-" ? ::fstat(STDIN_FILENO, &about) : ::stat(path.c_str(), &about)) != 0) return std::nullopt;
  return Identity(about.st_dev, about.st_ino);
}

std::vector<std::string> files_below(const std::string& directory,
                                     const std::function<bool(const fs::path&)>& fits) {
  std::vector<std::pair<bool, std::string>> found;  // links last
  std::error_code error, unknown;
  for (fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied, error),
       end;
       it != end && !error; it.increment(error)) {
    const bool link = it->is_symlink(unknown);
    const fs::file_status leads_to = it->status(unknown);
    if ((fs::is_regular_file(leads_to) || (link && !fs::exists(leads_to))) && fits(it->path()) &&
        !record::is_workers(it->path().string()) && !record::is_later_cycle(it->path().string()) &&
        !is_other_pickle(it->path().string()))
      found.emplace_back(link, it->path().string());
  }
  std::sort(found.begin(), found.end());
  std::set<Identity> seen;
  std::vector<std::string> files;
  for (const auto& [link, file] : found)
    if (const auto known = identity(file); !known || seen.insert(*known).second) files.push_back(file);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string given_twice(std::span<const std::string> files) {
  std::set<Identity> seen;
  for (const std::string& file : files)
    if (const auto known = identity(file); known && !seen.insert(*known).second) return file;
  return "";
}

std::string overwritten(std::span<const std::string> files, const std::string& output,
                        std::string_view what) {
  struct stat about{};
  if (::stat(output.c_str(), &about) != 0) return "";
  const Identity written(about.st_dev, about.st_ino);
  const bool read_along = record::is_workers(output) || record::is_later_cycle(output);
  std::error_code unknown;
  const fs::path folder = fs::canonical(output, unknown).parent_path();
  const bool is_read = std::ranges::any_of(files, [&](const std::string& file) {
    return identity(file) == written || (read_along && fs::canonical(file, unknown).parent_path() == folder);
  });
  return is_read ? fmt::format("{}: is {} and would be overwritten; choose another place", output, what) : "";
}

std::optional<Error> misnamed(std::span<const std::string> files) {
  std::error_code unknown;
  for (const std::string& file : files)
    if (!file.empty() && file != "-" && fs::symlink_status(file, unknown).type() == fs::file_type::not_found)
      return Error{"cannot be opened: " + std::generic_category().message(ENOENT), file};
  const std::string twice = given_twice(files);
  if (!twice.empty()) return Error{"is given twice; each recording counts once", twice};
  return std::nullopt;
}

Result<std::vector<std::string>> files_of(std::span<const std::string> paths,
                                          std::span<const std::string_view> endings) {
  const auto fits = [&](const fs::path& path) {
    const std::string name = path.filename().string();
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
  };
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    if (const fs::directory_iterator listed(path, error); error)
      return Error{"cannot be opened: " + error.message(), path};
    const std::vector<std::string> found = files_below(path, fits);
    if (found.empty())
      return Error{"no trace file (*.json, *.json.gz, *.stepscope, *.pfw, *.pickle) is below this directory",
                   path};
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<std::string> take_execution_traces(std::vector<std::string>& files) {
  const auto is_one = [](const std::string& path) {
    auto source = open_bytes(path);
    return source && is_execution_trace(peek(*source, kHead));
  };
  const auto taken = std::stable_partition(files.begin(), files.end(), std::not_fn(is_one));
  std::vector<std::string> execution_traces(taken, files.end());
  files.erase(taken, files.end());
  return execution_traces;
}

std::int64_t stored_size(const std::string& path) { return std::max<std::int64_t>(0, bytes_of({path})); }

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

std::string note_left_out(std::size_t sources) {
  return fmt::format("{} of the merged sources {} left out here: only the traces of ranks are read.", sources,
                     sources == 1 ? "is" : "are");
}

Result<Parsed> parse_file(const std::string& path, const KinetoOptions& options) {
  auto source = open_bytes(path);
  if (!source) return source.error();
  const std::string head = peek(*source, kHead);
  if (is_pfw(path, head)) {
    const auto reopen = [&] {
      return *source ? Result<std::unique_ptr<ByteSource>>(std::move(*source)) : open_bytes(path);
    };
    return alone(parse_pfw(path, head, reopen, options));
  }
  if (is_execution_trace(head)) return execution_trace_alone(path == "-" ? "standard input" : path);
  if (const auto error = foreign_error(head, path)) return *error;
  if (is_memory_timeline(head)) return alone(parse_memory_timeline(path, **source));
  if (is_pickle(head) || is_snapshot(head))
    return alone(parse_snapshot(path, **source, head, options.progress));
  if (is_memory_page(head)) {
    std::unique_ptr<ByteSource> snapshot = snapshot_of_page(std::move(*source));
    if (snapshot == nullptr)
      return Error{"is a page of PyTorch's memory_viz with no snapshot in it; give the .pickle that it shows",
                   path};
    const std::string begin = peek(snapshot, kHead);
    return alone(parse_snapshot(path, *snapshot, begin, options.progress));
  }
  if (head.starts_with(kMergedStart)) {
    auto merged = MergedFile::open(path);
    if (!merged) return merged.error();
    return parse_merged(path, std::move(**merged), options);
  }
  const auto reopen = [&]() -> Result<std::unique_ptr<ByteSource>> {
    auto bytes = *source ? Result<std::unique_ptr<ByteSource>>(std::move(*source)) : open_bytes(path);
    return bytes ? as_text(std::move(*bytes), head, path) : std::move(bytes);
  };
  return alone(parse_kineto(path, reopen, options));
}

}  // namespace stepscope::read
