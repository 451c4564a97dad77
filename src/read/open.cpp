#include "read/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/byte_source.h"
#include "base/parallel.h"
#include "derive/derive.h"
#include "read/dftracer.h"
#include "read/kineto.h"
#include "read/merged.h"
#include "read/rank_numbers.h"

namespace stepscope::read {
namespace {

namespace fs = std::filesystem;

/// What one path holds: one file, or the ranks of a merged one.
struct Parsed {
  std::vector<ParsedFile> files;
  std::vector<std::string> unread;  ///< ranks of a merged file, each with its reason
  std::size_t left_out = 0;         ///< sources of a merged file that are no rank
};

/// A merged file is read as the files that it was made of.
Result<Parsed> parse_merged(const std::string& path, MergedFile merged, const KinetoOptions& options) {
  Parsed parsed;
  std::optional<Error> first_error;
  for (std::size_t i = 0; i < merged.sources().size(); ++i) {
    const MergedSource source = merged.sources()[i];
    if (source.foreign) {
      ++parsed.left_out;
      continue;
    }
    const std::string name = path + "/" + source.name;
    auto file = parse_kineto(name, [&] { return merged.section(i); }, options);
    if (!file) {
      if (!first_error) first_error = file.error();
      parsed.unread.push_back(file.error().text());
      continue;
    }
    restore_source(*file, source, merged.base_ns());
    parsed.files.push_back(std::move(*file));
  }
  if (!parsed.files.empty()) return parsed;
  return first_error ? *first_error : Error{"holds no rank: none of its sources is a rank's trace", path};
}

/// Tells formats apart by their first bytes and parses the file.
Result<Parsed> parse_file(const std::string& path, const KinetoOptions& options) {
  constexpr std::size_t kHead = std::size_t{1} << 16;
  auto source = open_bytes(path);
  if (!source) return source.error();
  const std::string head = peek(*source, kHead);
  if (is_dftracer(head))
    return Error{
        "is a DFTracer file, which this version does not read; record the job with torch.profiler and give "
        "the file that its export_chrome_trace wrote; `stepscope merge` puts both on one time line",
        path};
  if (path != "-" && head.starts_with(kMergedStart)) {
    auto merged = MergedFile::open(path);
    if (!merged) return merged.error();
    return parse_merged(path, std::move(**merged), options);
  }
  const auto reopen = [&] {
    return *source ? Result<std::unique_ptr<ByteSource>>(std::move(*source)) : open_bytes(path);
  };
  auto file = parse_kineto(path, reopen, options);
  if (!file) return file.error();
  Parsed parsed;
  parsed.files.push_back(std::move(*file));
  return parsed;
}

}  // namespace

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
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error), end;
         it != end && !error; it.increment(error))
      if (it->is_regular_file(error) && fits(it->path())) found.push_back(it->path().string());
    if (found.empty()) return Error{"no trace file (*.json, *.json.gz) is below this directory", path};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<trace::Trace> open(std::span<const std::string> paths, const OpenOptions& options) {
  auto files = files_of(paths, kReadable);
  if (!files) return files.error();
  const unsigned threads = thread_count(options.threads);
  const unsigned per_file = files->size() >= threads ? 1 : threads;
  const std::size_t at_once = files->size() >= threads ? threads : 1;
  std::int64_t total = 0, done = 0;
  for (const std::string& path : *files) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    total = error || total < 0 ? -1 : total + static_cast<std::int64_t>(size);
  }
  trace::Trace trace;
  std::optional<Error> first_error;
  std::vector<std::string> unread;
  std::size_t left_out = 0;
  for (std::size_t from = 0; from < files->size(); from += at_once) {
    const std::size_t group = std::min(at_once, files->size() - from);
    std::vector<std::optional<Result<Parsed>>> parsed(group);
    parallel_for(group, threads, [&](std::size_t i) {
      const std::string& path = (*files)[from + i];
      KinetoOptions kineto;
      kineto.threads = per_file;
      if (options.progress && group == 1)
        kineto.progress = [&](std::int64_t at) { options.progress(done + at, total); };
      parsed[i] = parse_file(path, kineto);
    });
    for (std::size_t i = 0; i < group; ++i) {
      if (!parsed[i]->ok()) {
        if (!first_error) first_error = parsed[i]->error();
        unread.push_back(parsed[i]->error().text());
        continue;
      }
      Parsed& of_path = **parsed[i];
      unread.insert(unread.end(), of_path.unread.begin(), of_path.unread.end());
      left_out += of_path.left_out;
      for (ParsedFile& file : of_path.files) {
        done += file.rank.reading.text_bytes;
        seal(trace, std::move(file), threads);
        trace::Rank& rank = trace.ranks.back();
        if (rank.rank >= kMostRanks) rank.rank = -1;
        if (rank.rank < 0 && (files->size() > 1 || of_path.files.size() > 1))
          rank.rank = rank_of(trace, rank);
      }
    }
  }
  if (trace.ranks.empty()) return *first_error;
  trace.unread = std::move(unread);
  if (left_out > 0)
    trace.notes.push_back(fmt::format(
        "{} of the merged sources {} no rank's trace: on the merged time line, and left out here.", left_out,
        left_out == 1 ? "is" : "are"));
  settle_ranks(trace);
  const unsigned each = trace.ranks.size() == 1 ? threads : 1;
  parallel_for(trace.ranks.size(), threads,
               [&](std::size_t i) { derive::fill(trace, trace.ranks[i], each); });
  note_gaps(trace);
  return trace;
}

}  // namespace stepscope::read
