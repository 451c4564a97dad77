#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <mutex>

#include "base/parallel.h"
#include "base/text.h"
#include "merge/first_pass.h"
#include "merge/merge.h"
#include "merge/ordered_output.h"
#include "merge/rewrite.h"
#include "read/files.h"

namespace stepscope::merge {
namespace {

/// Receives the events of a block and writes them.
struct ChromeSection {
  /// Size of a usual block, and a little more.
  static constexpr std::size_t kUsual = read::BlockSizes{}.usual / 8 * 9;

  Rewriter rewriter;
  std::string text;

  ChromeSection(const Source& source, std::int64_t base_ns) : rewriter(source, base_ns) {
    text.reserve(kUsual);
  }
  void take(const EventText& event, std::int64_t) { rewriter.append(event, text); }
  void lose(std::int64_t, std::int64_t, std::string_view) {}
};

std::string alignment_of(const Source& source) {
  if (source.place.method == Placement::Method::merged && !source.place.carried.empty())
    return source.place.carried;
  const derive::ClockMap& map = source.place.map;
  std::string text =
      fmt::format(R"({{"source":{},"rank":{},"method":"{}","offset_ns":{},"drift_ppm":{},"drift_from_ns":{})",
                  json_text(source.name), source.rank, name_of(source.place.method),
                  map.shift + std::llround(map.offset), map.drift * 1e6, map.origin);
  if (source.place.uncertainty >= 0)
    text += fmt::format(",\"uncertainty_ns\":{:.0f}", source.place.uncertainty);
  if (source.place.drift_left != 0)
    text += fmt::format(",\"drift_left_ppm\":{}", source.place.drift_left * 1e6);
  return text + "}";
}

/// The source's own top-level keys.
std::string head_of(const Source& source) {
  std::string text;
  for (const auto& [key, value] : source.head)
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
  return "{" + text + "}";
}

std::string entry_of(const Source& source) {
  std::array<std::int64_t, kSpaces> shifts = source.id_shift;  // from the original recording's ids
  for (std::size_t s = 0; s < source.earlier.id_shifts.size(); ++s) shifts[s] += source.earlier.id_shifts[s];
  std::string processes, threads;
  for (const Process& p : source.processes)
    processes += fmt::format(R"({}{{"pid":{},"was":{},"name":{}}})", processes.empty() ? "" : ",", p.pid,
                             json_text(p.was), json_text(p.name));
  for (const Thread& t : source.threads)
    threads += fmt::format(R"({}{{"pid":{},"tid":{},"was":{}}})", threads.empty() ? "" : ",", t.pid, t.tid,
                           json_text(t.was));
  return fmt::format(
      R"({{"rank":{},"source":{},"kind":"{}"{},"processes":[{}],"threads":[{}],"id_shifts":[{}],"head":{}}})",
      source.rank, json_text(source.name), source.foreign ? "foreign" : "torch",
      source.dftracer ? ",\"lines\":true" : "", processes, threads, fmt::join(shifts, ","), head_of(source));
}

/// Events that name and sort each process, before the sections, which hold only their source's events.
std::string names_of(const Source& source) {
  std::string text;
  for (const Process& p : source.processes)
    text += fmt::format(
        "\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"args\":{{\"name\":{1}}}}},"
        "\n{{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"args\":{{\"sort_index\":{2}"
        "}}}},",
        p.pid, json_text(p.name), p.sort);
  for (const Thread& t : source.threads)
    text += fmt::format(
        "\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},", t.pid,
        t.tid, json_text(t.was));
  return text;
}

std::string document_head(const std::vector<Source>& sources, std::int64_t base_ns) {
  std::string text(read::kMergedStart);
  text += fmt::format(
      "\"schemaVersion\":1,\n\"displayTimeUnit\":\"ns\",\n\"baseTimeNanoseconds\":{},\n"
      "\"distributedInfo\":{{\"merged\":true}},\n\"ranks\":[",
      base_ns);
  for (const Source& source : sources) text += (&source == sources.data() ? "\n" : ",\n") + entry_of(source);
  text += "\n],\n\"stepscope.alignment\":[";
  for (const Source& source : sources)
    text += (&source == sources.data() ? "\n" : ",\n") + alignment_of(source);
  text += "\n],\n\"traceEvents\":[";
  for (const Source& source : sources) text += names_of(source);
  return text;
}

/// The line that a section begins with.
std::string section_line(const Source& source, bool first) {
  return fmt::format("{}{},\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"source\":{}}}}}", first ? "" : ",",
                     read::kSectionStart, source.processes.front().pid, json_text(source.name));
}

std::string document_tail(const std::vector<Source>& sources) {
  std::string text(read::kSectionsEnd);
  text += ":[";
  for (const Source& source : sources) text += (&source == sources.data() ? "\n" : ",\n") + total_of(source);
  return text + "\n]}\n";
}

/// Streams one source's events to the output.
std::optional<Error> write_section(const Source& source, Opener& opener, std::int64_t base_ns,
                                   unsigned threads, OrderedOutput& output,
                                   const std::function<void(std::int64_t)>& progress) {
  auto bytes = opener.open(source);
  if (!bytes) return bytes.error();
  std::mutex mutex;
  const Walked walked = walk<ChromeSection>(
      **bytes, {threads, source.guess, source.lines, {}},
      [&](std::uint32_t) { return ChromeSection(source, base_ns); },
      [&](ChromeSection&& block, std::uint32_t index, std::int64_t stored) {
        output.write(index, block.text);
        const std::lock_guard lock(mutex);
        if (progress) progress(stored);
      },
      [&] { output.abandon(); });
  if (!walked.guessed_right || walked.text_bytes != source.walked.text_bytes)
    return Error{"changed while it was read; merge again when the job is done", source.path};
  return std::nullopt;
}

}  // namespace

std::optional<Error> write_chrome(Merged& merged, const MergeOptions& options, bool gzip,
                                  const std::function<bool(std::string_view)>& put) {
  const std::int64_t base_ns = base_of(merged.sources);
  OrderedOutput output(put, gzip);
  output.write(document_head(merged.sources, base_ns));
  Opener opener;
  std::int64_t done = merged.stored_bytes;  // the survey's half
  for (std::size_t i = 0; i < merged.sources.size() && !output.closed(); ++i) {
    const Source& source = merged.sources[i];
    output.write(section_line(source, i == 0));
    const auto progress = [&](std::int64_t stored) {
      if (options.progress) options.progress(done + stored, 2 * merged.stored_bytes);
    };
    if (auto error = write_section(source, opener, base_ns, thread_count(options.threads), output, progress))
      return error;
    const bool last = i + 1 == merged.sources.size() || merged.sources[i + 1].path != source.path;
    if (last) done += read::stored_size(source.path);
  }
  output.write(document_tail(merged.sources));
  for (const Source& source : merged.sources)
    if (const std::string mended = mended_in(source); !mended.empty())
      merged.notes.push_back(source.name + ": " + mended);
  return std::nullopt;
}

}  // namespace stepscope::merge
