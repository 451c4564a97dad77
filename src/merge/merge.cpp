#include "merge/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/parallel.h"
#include "merge/first_pass.h"
#include "merge/one_run.h"
#include "read/files.h"

namespace stepscope::merge {
namespace {

/// Whether the source can be placed. Adds a note if it cannot, or if it is damaged.
bool usable(const Source& source, std::vector<std::string>& notes) {
  const std::string damage = damage_of(source);
  if (source.found.rows > 0) {
    if (!damage.empty()) notes.push_back(source.name + ": " + damage + ". The readable part is merged.");
    return true;
  }
  notes.push_back(fmt::format(
      "Not merged: {}: {}{}.", source.name,
      source.found.events == 0 ? "no event could be read" : "none of its events has a usable time",
      damage.empty() ? "" : "; " + damage));
  return false;
}

/// Adds what the end of a merged file records about its sections, after they were surveyed.
void read_end(std::span<Source> sections, Opener& opener, std::vector<std::string>& notes) {
  const bool cut_is_known = std::any_of(sections.begin(), sections.end(),
                                        [](const Source& source) { return !source.walked.complete; });
  const read::MergedEnd end = opener.end_of_merged(cut_is_known);
  for (Source& source : sections) {
    Survey& found = source.found;
    trace::Reading reading;
    reading.events = found.events;
    reading.complete = source.walked.complete;
    if (found.events > 0) read::count_merged(reading, end.totals[static_cast<std::size_t>(source.section)]);
    source.walked.complete = reading.complete;
    found.lost += reading.losses;
    found.lost_bytes += reading.lost_bytes;
    found.losses.insert(found.losses.end(), reading.first_losses.begin(), reading.first_losses.end());
  }
  for (const std::string& fault : end.faults) notes.push_back("Not merged: " + fault);
}

}  // namespace

Result<Merged> survey(std::vector<std::string> files, const MergeOptions& options) {
  Merged merged;
  for (const std::string& path : read::take_execution_traces(files))
    merged.notes.push_back("Not merged: " + path +
                           ": is an execution trace, which has no times; open it beside the merged file");
  auto sources = sources_of(files);
  if (!sources) return sources.error();
  merged.sources = std::move(*sources);
  const unsigned threads = thread_count(options.threads);
  for (const std::string& file : files) merged.stored_bytes += read::stored_size(file);
  const std::int64_t total = 2 * merged.stored_bytes;
  std::int64_t done = 0;
  Opener opener;
  std::vector<Source> kept;
  std::vector<bool> surveyed;
  for (Source& source : merged.sources) {
    const auto progress = [&](std::int64_t stored) {
      if (options.progress) options.progress(done + stored, total);
    };
    auto error = survey_source(source, opener, threads, progress);
    if (error) merged.notes.push_back("Not merged: " + error->text());
    surveyed.push_back(!error);
    const Source* next = &source + 1;
    const bool last = &source == &merged.sources.back() || next->path != source.path;
    if (last) done += read::stored_size(source.path);
    if (source.section >= 0 && last) read_end({&source - source.section, &source + 1}, opener, merged.notes);
  }
  for (std::size_t i = 0; i < surveyed.size(); ++i)
    if (surveyed[i] && usable(merged.sources[i], merged.notes)) kept.push_back(std::move(merged.sources[i]));
  merged.sources = std::move(kept);
  if (merged.sources.empty())
    return Error{fmt::format("nothing was written. {}", fmt::join(merged.notes, "\n")), ""};
  if (!options.all_runs)
    if (auto error = keep_one_run(merged.sources, options.run, merged.notes)) return *std::move(error);
  for (std::string& note : settle_ids(merged.sources)) merged.notes.push_back(std::move(note));
  for (std::string& note : place_sources(merged.sources, {options.align, threads, options.activity}))
    merged.notes.push_back(std::move(note));
  if (!options.all_runs && options.align) leave_ranks_apart(merged.sources, merged.notes);
  note_distance(merged.sources, merged.notes);
  return merged;
}

}  // namespace stepscope::merge
