#include "merge/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <numeric>

#include "base/parallel.h"
#include "base/text.h"
#include "merge/event_text.h"
#include "merge/first_pass.h"
#include "merge/ordered_output.h"
#include "merge/rewrite.h"
#include "read/drawn.h"
#include "read/json_members.h"
#include "read/json_text.h"

namespace stepscope::merge {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// A number stays a number; any other text is put in quotes.
std::string ident_text(const std::string& ident) {
  const std::size_t sign = ident.starts_with('-') ? 1 : 0;
  const bool number = ident.size() > sign && ident.size() < 19 &&
                      ident.find_first_not_of("0123456789", sign) == std::string::npos &&
                      (ident[sign] != '0' || ident.size() == sign + 1);
  return number ? ident : json_text(ident);
}

std::string microseconds(std::int64_t ns) {
  std::string text;
  append_microseconds(ns, text);
  return text;
}

/// Lanes as fields: "pid":1,"tid":2
std::vector<std::string> lane_fields(const report::Drawing& drawing) {
  std::vector<std::string> fields;
  for (const report::Drawing::Lane& lane : drawing.lanes)
    fields.push_back(fmt::format(R"("pid":{},"tid":{})", ident_text(lane.pid), ident_text(lane.tid)));
  return fields;
}

void append_arrow(const report::Drawing::Arrow& arrow, std::size_t id, const std::vector<std::string>& lanes,
                  std::string& out) {
  const std::string args = fmt::format(R"({{"weight":{},"critical":{},"type":"critical_path_{}"}})",
                                       microseconds(arrow.weight), arrow.critical ? 1 : 0, arrow.type);
  const auto end = [&](std::string_view phase, std::uint32_t lane, std::int64_t time) {
    fmt::format_to(
        std::back_inserter(out),
        "\n{{\"ph\":{0},\"id\":{1},{2},\"ts\":{3},\"cat\":\"{4}\",\"name\":\"{4}\",\"args\":{5}}},", phase,
        id, lanes[lane], microseconds(time), read::kDrawnArrow, args);
  };
  end(R"("s")", arrow.from_lane, arrow.from);
  end(R"("f","bp":"e")", arrow.to_lane, arrow.to);
}

/// Appends an event of the critical path with the arg `critical` set; an old value is replaced.
void append_critical(const EventText& event, std::string& out) {
  constexpr std::string_view kArg = "\"critical\":1";
  const bool object = event.args && *event.args.begin == '{';
  if (event.args && !object) {
    out += event.whole.text();
    return;
  }
  const char* at = object ? event.args.begin + 1 : event.whole.end - 1;
  out.append(event.whole.begin, at);
  if (object && event.args.text().find("\"critical\"") != std::string_view::npos) {
    at = event.args.end;
    out += kArg;
    for (const auto& [key, value] : read::members_of(event.args.text()))
      if (key != "critical") out += fmt::format(",\"{}\":{}", key, value);
    out += '}';
  } else if (object) {
    out += kArg;
    if (*read::skip_space(at) != '}') out += ',';
  } else {
    out += fmt::format(",\"args\":{{{}}}", kArg);
  }
  out.append(at, event.whole.end);
}

/// Passes arrows and counters to `put` in pieces, each event on its own line and with a comma after it.
void drawn_events(const report::Drawing& drawing, const std::function<void(std::string_view)>& put) {
  const std::vector<std::string> lanes = lane_fields(drawing);
  std::string text;
  const auto give = [&](std::size_t least) {
    if (text.size() < least) return;
    put(text);
    text.clear();
  };
  for (std::size_t i = 0; i < drawing.arrows.size(); ++i) {
    append_arrow(drawing.arrows[i], i + 1, lanes, text);
    give(kPiece);
  }
  std::vector<std::string> heads, values;
  for (const report::Drawing::Counter& counter : drawing.counters) {
    heads.push_back(fmt::format(R"({{"ph":"C","cat":"{}","name":{},"pid":{},"ts":)", read::kDrawnCounter,
                                json_text(counter.name), ident_text(counter.pid)));
    values.push_back(json_text(counter.value_name));
  }
  for (const report::Drawing::Point& point : drawing.points) {
    if (!std::isfinite(point.value)) continue;
    text += fmt::format("\n{}{},\"args\":{{{}:{}}}}},", heads[point.counter], microseconds(point.time),
                        values[point.counter], point.value);
    give(kPiece);
  }
  give(1);
}

/// The last line of an overlaid file's event list.
std::string overlay_mark(const report::Drawing& drawing) {
  const std::vector<std::string> lanes = lane_fields(drawing);
  return fmt::format("\n{{\"ph\":\"M\",\"name\":\"{}\",{},\"args\":{{\"by\":\"stepscope\"}}}}",
                     read::kOverlayMark, lanes.empty() ? R"("pid":0,"tid":0)" : lanes.front());
}

/// Receives the events of a block and copies them.
class CopiedBlock {
 public:
  /// `first`: index of the block's first event in the file's list.
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
    return Error{"holds merged recordings; overlay each rank's own file, then merge the copies", path};
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

/// The text before the events, with what the copy lacks, if anything.
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
  return Overlaid{source->found.events, damage_of(*source), mended_in(*source)};
}

}  // namespace stepscope::merge
