#include "merge/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "base/parallel.h"
#include "merge/drawn_text.h"
#include "merge/first_pass.h"
#include "merge/ordered_output.h"
#include "read/drawn.h"

namespace stepscope::merge {
namespace {

/// Receives the events of a block and copies them.
class CopiedBlock {
 public:
  /// `first`: the place of its first event in the file's list.
  CopiedBlock(const report::Drawing& drawing, std::uint32_t first)
      : only_critical_(drawing.only_critical),
        next_(first),
        critical_(std::lower_bound(drawing.critical.begin(), drawing.critical.end(), first)),
        critical_end_(drawing.critical.end()) {}

  void take(const EventText& event, std::int64_t) {
    const bool critical = critical_ != critical_end_ && *critical_ == next_++;
    critical_ += critical;
    if (only_critical_ && !critical && !is_kept(event)) return;
    text += '\n';
    if (critical)
      append_critical(event, text);
    else
      text += event.whole.text();
    text += ',';
  }
  void lose(std::int64_t, std::int64_t, std::string_view) {}

  std::string text;

 private:
  static bool is_kept(const EventText& event) {
    const std::string_view category = event.category.bare();
    return event.kind() != 'X' || category == "user_annotation" || category == "python_function";
  }

  bool only_critical_;
  std::uint32_t next_;
  std::vector<std::uint32_t>::const_iterator critical_, critical_end_;
};

/// The source at `path`, read once.
Result<Source> surveyed(const std::string& path, const report::Drawing& drawing, unsigned threads,
                        const std::function<void(std::int64_t)>& progress) {
  auto sources = sources_of({path});
  if (!sources) return sources.error();
  if (sources->size() != 1 || sources->front().section >= 0)
    return Error{"holds merged recordings; overlay each rank's own file, then merge what was written", path};
  Source source = std::move(sources->front());
  Opener opener;
  if (auto error = survey_source(source, opener, threads, progress)) return *error;
  const auto& categories = source.found.categories;
  const bool marked = std::any_of(source.head.begin(), source.head.end(),
                                  [](const auto& entry) { return entry.first == read::kOverlayMark; });
  if (marked || categories.contains(read::kDrawnArrow) || categories.contains(read::kDrawnCounter))
    return Error{"was overlaid before; give the recording that it was made from", path};
  if (source.found.events != drawing.events)
    return Error{"changed while it was read; overlay it again when the job is done", path};
  return source;
}

/// With what the copy lacks, when it lacks anything.
std::string document_head(const Source& source, const report::Drawing& drawing) {
  std::string text = "{\n";
  if (drawing.only_critical || !damage_of(source).empty())
    text += fmt::format("\"{}\":{{\"only_critical\":{},\"recording\":{}}},\n", read::kOverlayMark,
                        drawing.only_critical, total_of(source));
  for (const auto& [key, value] : source.head)
    if (key != "traceEvents") text += fmt::format("\"{}\":{},\n", key, value);
  return text + "\"traceEvents\":[";
}

bool copy_events(const Source& source, Opener& opener, const report::Drawing& drawing, unsigned threads,
                 OrderedOutput& output, const std::function<void(std::int64_t)>& progress) {
  auto bytes = opener.open(source);
  if (!bytes) return false;
  const std::vector<std::uint32_t>& counts = source.found.by_block;
  std::vector<std::uint32_t> first(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
  std::mutex mutex;
  const Walked walked = walk<CopiedBlock>(
      **bytes, {threads, source.guess, source.lines, {}},
      [&](std::uint32_t block) {
        return CopiedBlock(drawing, first[std::min<std::size_t>(block, counts.size())]);
      },
      [&](CopiedBlock&& block, std::uint32_t index, std::int64_t stored) {
        output.write(index, block.text);
        const std::lock_guard lock(mutex);
        if (progress) progress(stored);
      },
      [&] { output.abandon(); });
  return walked.guessed_right && walked.text_bytes == source.walked.text_bytes;
}

}  // namespace

Result<Overlaid> write_overlay(const std::string& path, const report::Drawing& drawing,
                               const OverlayOptions& options,
                               const std::function<bool(std::string_view)>& put) {
  const unsigned threads = thread_count(options.threads);
  std::error_code unknown;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, unknown));
  const auto told = [&](std::int64_t before) -> std::function<void(std::int64_t)> {
    if (!options.progress) return {};
    return [&options, size, before](std::int64_t stored) { options.progress(before + stored, 2 * size); };
  };
  const auto source = surveyed(path, drawing, threads, told(0));
  if (!source) return source.error();
  OrderedOutput output(put, options.gzip);
  output.write(document_head(*source, drawing));
  Opener opener;
  if (!copy_events(*source, opener, drawing, threads, output, told(size)))
    return Error{"changed while it was read; overlay it again when the job is done", path};
  drawn_events(drawing, [&](std::string_view text) { output.write(text); });
  output.write(overlay_mark(drawing) + "\n]}\n");
  return Overlaid{source->found.events, damage_of(*source)};
}

}  // namespace stepscope::merge
