#include "merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/parallel.h"

namespace stepscope::merge {
namespace {

std::int64_t stored_size(const std::vector<std::string>& files) {
  std::int64_t total = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (!error) total += static_cast<std::int64_t>(size);
  }
  return total;
}

std::optional<Error> survey_once(Source& source, Opener& opener, const WalkOptions& walk_options,
                                 const std::function<void(std::int64_t)>& progress) {
  auto bytes = opener.open(source);
  if (!bytes) return bytes.error();
  source.found = {};
  std::mutex mutex;
  source.walked = walk<Survey>(
      **bytes, walk_options, [] { return Survey{}; },
      [&](Survey&& block, std::uint32_t, std::int64_t stored) {
        const std::lock_guard lock(mutex);
        source.found.add(std::move(block));
        if (progress) progress(stored);
      },
      [] {});
  for (const ByteFault& fault : (*bytes)->faults) source.found.lose(fault.offset, -1, fault.reason);
  return std::nullopt;
}

std::optional<Error> survey_one(Source& source, Opener& opener, unsigned threads,
                                const std::function<void(std::int64_t)>& progress) {
  WalkOptions options{threads, source.guess, source.lines, {}};
  if (auto error = survey_once(source, opener, options, progress)) return error;
  if (!source.walked.guessed_right) {
    source.guess = options.guess = false;
    if (auto error = survey_once(source, opener, options, progress)) return error;
  }
  settle_kind(source);
  return std::nullopt;
}

std::string damage_note(const Source& source) {
  const Survey& found = source.found;
  std::string note = source.walked.complete ? "" : "it ends early";
  if (found.lost > 0)
    note += fmt::format("{}{} stretch{} of it could not be used", note.empty() ? "" : "; ", found.lost,
                        found.lost == 1 ? "" : "es");
  if (note.empty()) return note;
  if (!found.losses.empty()) note += ": " + found.losses.front().text();
  return source.name + ": " + note + ". What could be read is merged.";
}

}  // namespace

Result<Merged> survey(const std::vector<std::string>& files, const MergeOptions& options) {
  auto sources = sources_of(files);
  if (!sources) return sources.error();
  Merged merged;
  merged.sources = std::move(*sources);
  const unsigned threads = thread_count(options.threads);
  const std::int64_t total = 2 * stored_size(files);
  std::int64_t done = 0;
  Opener opener;
  std::vector<Source> kept;
  for (Source& source : merged.sources) {
    const auto progress = [&](std::int64_t stored) {
      if (options.progress) options.progress(done + stored, total);
    };
    if (auto error = survey_one(source, opener, threads, progress)) {
      merged.notes.push_back("Not merged: " + error->text());
      continue;
    }
    if (source.section < 0 && source.walked.text_bytes > 0) done += stored_size({source.path});
    if (const std::string note = damage_note(source); !note.empty()) merged.notes.push_back(note);
    if (source.found.events > 0)
      kept.push_back(std::move(source));
    else
      merged.notes.push_back("Not merged: " + source.path + ": no event could be read.");
  }
  merged.sources = std::move(kept);
  if (merged.sources.empty())
    return Error{merged.notes.empty() ? "nothing to merge" : merged.notes.front(), ""};
  for (std::string& note : settle_ids(merged.sources)) merged.notes.push_back(std::move(note));
  for (std::string& note : place_sources(merged.sources, {options.align, threads, options.activity}))
    merged.notes.push_back(std::move(note));
  return merged;
}

}  // namespace stepscope::merge
