#include "write/pfw/pfw.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "derive/io/io_calls.h"
#include "write/pfw/pfw_ids.h"
#include "write/text_file.h"

namespace stepscope::write {
namespace {

using derive::IoKind;
using trace::ArgField;
using trace::ArgType;
using trace::Kind;
using trace::Rank;
using trace::Row;
using trace::StringId;

constexpr std::size_t kPfwPiece = std::size_t{1} << 18;
constexpr std::string_view kPosix = "POSIX", kStdio = "STDIO", kTool = "dftracer";

/// A function of libc as DFTracer names it. The analysers know reads and writes by their plain names.
struct PfwFunction {
  std::string name;  ///< as JSON
  bool stdio;
  IoKind kind;
};

PfwFunction function_of(std::string_view name) {
  const IoKind kind = derive::io_kind(name);
  const bool moves = kind == IoKind::read || kind == IoKind::write;
  return {json_text(moves ? derive::plain_name(name) : name), derive::is_stdio(name), kind};
}

/// Rounded down, so that ranges that nest still nest, and lengths are right on average.
std::int64_t microseconds_of(const Rank& rank, std::int64_t time) {
  std::int64_t unix = 0;
  if (__builtin_add_overflow(rank.base_ns, time, &unix) || unix < 0) return 0;
  return unix / 1000;
}

class PfwText {
 public:
  PfwText(const trace::Trace& trace, TextFile& file)
      : trace_(trace), file_(file), lanes_(trace), count_(trace.arg("count")) {}

  PfwWritten write() {
    text_ = "[\n";
    for (const Rank& rank : trace_.ranks)
      for (const trace::Track& track : rank.tracks)
        if (track.side == trace::Track::Side::host && !write_track(rank, track)) return std::move(written_);
    text_ += "]\n";
    file_.add(text_);
    add_notes();
    return std::move(written_);
  }

 private:
  /// False: nobody reads any more.
  bool write_track(const Rank& rank, const trace::Track& track) {
    const trace::EventTable& e = rank.events;
    std::int64_t covered = std::numeric_limits<std::int64_t>::min();  // end of the last outermost operator
    named_ = false;
    for (Row row = track.begin; row < track.end; ++row) {
      const Kind kind = e.kind[row];
      if (kind == Kind::op) {
        if (e.start[row] < covered) continue;
        covered = e.end[row];
      } else if (kind != Kind::annotation && kind != Kind::io && kind != Kind::io_library) {
        continue;
      }
      name_lane(rank, track);
      write_row(rank, row, kind);
      if (text_.size() < kPfwPiece) continue;
      const bool goes_on = file_.add(text_);
      text_.clear();
      if (!goes_on) return false;
    }
    return true;
  }

  /// Says the names of the process and the thread before their first event.
  void name_lane(const Rank& rank, const trace::Track& track) {
    if (named_) return;
    named_ = true;
    lane_ = lanes_.of(rank, static_cast<trace::TrackId>(&track - rank.tracks.data()));
    host_ = hash_of_host(trace::host_of(rank));
    if (processes_.insert(lane_.pid).second) {
      if (rank.rank >= 0) metadata("PR", "rank", std::to_string(rank.rank));
      if (!track.process.empty()) metadata("process_name", track.process, "process_name");
    }
    if (!track.name.empty()) metadata("thread_name", track.name, "thread_name");
  }

  void metadata(std::string_view what, std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text_),
                   R"({{"name":"{}","cat":"{}","pid":{},"tid":{},"ph":"M","args":{{)", what, kTool, lane_.pid,
                   lane_.tid);
    text_ += R"("name":)";
    append_json(text_, name);
    text_ += R"(,"value":)";
    append_json(text_, value);
    text_ += "}}\n";
  }

  /// The hash as JSON. A line says what it means before its first use.
  std::string hash_of(PfwHashes& hashes, std::string_view what, std::string_view text) {
    const auto [hash, is_new] = hashes.of(text);
    std::string digits = std::to_string(hash);
    if (is_new) metadata(what, text, digits);
    return '"' + digits + '"';
  }
  std::string hash_of_host(std::string_view name) { return name.empty() ? "" : hash_of(hosts_, "HH", name); }
  /// Many events have the same file.
  const std::string& hash_of_file(StringId path) {
    const auto [found, added] = file_hashes_.try_emplace(path);
    if (added) found->second = hash_of(files_, "FH", trace_.text(path));
    return found->second;
  }

  void write_row(const Rank& rank, Row row, Kind kind) {
    const trace::EventTable& e = rank.events;
    args_.clear();
    row_host_ = &host_;
    category_.clear();
    name_ = nullptr;
    switch (kind) {
      case Kind::io:
        put_call(rank, row);
        ++written_.calls;
        break;
      case Kind::io_library:
        put_library_call(rank, row);
        ++written_.calls;
        break;
      case Kind::op:
        category_ = "compute";
        ++written_.operators;
        break;
      default:
        put_range(rank, row);
        ++written_.ranges;
    }
    if (name_ == nullptr) name_ = &name_of(e.name[row]);
    const std::int64_t start = microseconds_of(rank, e.start[row]), end = microseconds_of(rank, e.end[row]);
    fmt::format_to(std::back_inserter(text_), R"({{"id":{},"name":{},"cat":)", ++id_, *name_);
    append_json(text_, category_);
    fmt::format_to(std::back_inserter(text_), R"(,"pid":{},"tid":{},"ts":{},"dur":{},"ph":"X","args":{{)",
                   lane_.pid, lane_.tid, start, end - start);
    if (!row_host_->empty()) {
      text_ += R"("hhash":)";
      text_ += *row_host_;
      if (!args_.empty()) text_ += ',';
    }
    text_ += args_;
    text_ += "}}\n";
  }

  const std::string& name_of(StringId name) {
    const auto [found, added] = names_.try_emplace(name);
    if (added) found->second = json_text(trace_.text(name));
    return found->second;
  }

  void put_range(const Rank& rank, Row row) {
    category_ = trace_.text(rank.events.category[row]);
    put_args(rank, row, [&](const ArgField& field, std::int64_t value) {
      // Ranges of stepscope.io have DFTracer's category as an arg.
      if (field.type != ArgType::text || trace_.text(field.key) != "cat") return false;
      category_ = trace_.text(static_cast<StringId>(value));
      return true;
    });
    if (category_.empty()) category_ = "range";
  }

  void put_call(const Rank& rank, Row row) {
    category_ = trace_.text(rank.events.category[row]);
    const bool of_dftracer = category_ == kPosix || category_ == kStdio || count_.in(rank.events.schema[row]);
    const auto [found, added] = functions_.try_emplace(rank.events.name[row]);
    if (added) found->second = function_of(trace_.text(found->first));
    const PfwFunction& function = found->second;
    category_ = function.stdio ? kStdio : kPosix;
    if (of_dftracer) return put_args(rank, row, [](const ArgField&, std::int64_t) { return false; });
    name_ = &function.name;
    const bool moves = function.kind == IoKind::read || function.kind == IoKind::write;
    const bool has_length = function.kind == IoKind::map || function.kind == IoKind::change;
    // DFTracer's `size` is that of one item of fread, its `ret` their number.
    if (moves && function.stdio) put("size", "1");
    put_args(rank, row, [&](const ArgField& field, std::int64_t value) {
      if ((!moves && !has_length) || field.type != ArgType::integer || trace_.text(field.key) != "size")
        return false;
      put(moves ? "count" : "length", std::to_string(value));
      return true;
    });
  }

  /// Of HDF5 or MPI-IO; our categories are DFTracer's.
  void put_library_call(const Rank& rank, Row row) {
    category_ = trace_.text(rank.events.category[row]);
    const IoKind kind = derive::io_kind(trace_.text(rank.events.name[row]));
    const bool moves = kind == IoKind::read || kind == IoKind::write;
    put_args(rank, row, [&](const ArgField& field, std::int64_t value) {
      if (!moves || field.type != ArgType::integer || trace_.text(field.key) != "size") return false;
      put("count", std::to_string(value));
      return true;
    });
  }

  /// Puts all args but those that `take` takes.
  template <class Take>
  void put_args(const Rank& rank, Row row, Take take) {
    trace::for_each_arg(trace_, rank, row, [&](const ArgField& field, std::int64_t value) {
      if (!take(field, value)) put_arg(field, value);
    });
  }

  void put_arg(const ArgField& field, std::int64_t value) {
    const std::string_view key = trace_.text(field.key);
    switch (field.type) {
      case ArgType::integer:
        return put(key, std::to_string(value));
      case ArgType::real: {
        const double real = trace::as_real(value);
        return put(key, std::isfinite(real) ? fmt::format("{}", real) : "null");
      }
      case ArgType::text:
        return put_text(key, static_cast<StringId>(value));
      case ArgType::raw: {
        const std::string_view raw = trace_.text(static_cast<StringId>(value));
        const bool word = raw == "true" || raw == "false" || raw == "null";
        return put(key, word ? std::string(raw) : json_text(raw));  // a list may have several lines
      }
    }
  }

  void put_text(std::string_view key, StringId value) {
    if (trace_.text(value).empty()) return put(key, "\"\"");
    if (key == "fname") return put("fhash", hash_of_file(value));
    if (key == "to" || key == "pathname") return put(fmt::format("{}_hash", key), hash_of_file(value));
    const bool is_host = key == "hostname" || key == "hhash";  // a hash that nothing explains is a name, too
    if (!is_host) return put(key, json_text(trace_.text(value)));
    const auto [found, added] = host_hashes_.try_emplace(value);
    if (added) found->second = hash_of_host(trace_.text(value));
    row_host_ = &found->second;
  }

  void put(std::string_view key, std::string_view json) {
    if (!args_.empty()) args_ += ',';
    append_json(args_, key);
    args_ += ':';
    args_ += json;
  }

  void add_notes() {
    std::int64_t aggregated = 0;
    for (const Rank& rank : trace_.ranks) aggregated += rank.reading.aggregated;
    if (written_.calls == 0)
      written_.notes.push_back(fmt::format(
          "no file I/O is recorded: the file has {} and {} only. `stepscope record --io` records I/O.",
          counted(written_.ranges, "range"), counted(written_.operators, "operator")));
    if (aggregated > 0)
      written_.notes.push_back(
          fmt::format("{} left out that stand for many calls each: the file has calls only.",
                      counted(aggregated, "record")));
    if (lanes_.renumbered() > 0)
      written_.notes.push_back(fmt::format("{} got a new number: its own is no number, or another rank's.",
                                           counted(lanes_.renumbered(), "process", "es")));
  }

  static std::string counted(std::int64_t number, std::string_view what, std::string_view plural = "s") {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : plural);
  }

  const trace::Trace& trace_;
  TextFile& file_;
  PfwLanes lanes_;
  const trace::ArgLookup count_;
  PfwHashes files_, hosts_;
  PfwWritten written_;
  std::string text_, args_;
  std::set<std::int64_t> processes_;                                             // that were named
  std::unordered_map<StringId, std::string> names_, file_hashes_, host_hashes_;  // as JSON
  std::unordered_map<StringId, PfwFunction> functions_;
  std::int64_t id_ = 0;
  // Of the track that is written, and of its row.
  bool named_ = false;
  PfwLane lane_{};
  std::string host_;  // hash as JSON, "" if not known
  const std::string *row_host_ = nullptr, *name_ = nullptr;
  std::string category_;
};

bool holds_ranges(const trace::Trace& trace) {
  for (const Rank& rank : trace.ranks)
    for (const Row row : rank.host_rows()) {
      const Kind kind = rank.events.kind[row];
      if (kind == Kind::io || kind == Kind::io_library || kind == Kind::op || kind == Kind::annotation)
        return true;
    }
  return false;
}

}  // namespace

Result<PfwWritten> export_pfw(const trace::Trace& trace, const std::string& path) {
  if (!holds_ranges(trace))
    return Error{"a .pfw holds file I/O, ranges and operators, and nothing of that is recorded here",
                 trace.ranks.empty() ? "" : trace.ranks.front().path};
  auto file = TextFile::open(path);
  if (!file) return file.error();
  PfwWritten written = PfwText(trace, *file).write();
  if (auto error = file->finish()) return *error;
  return written;
}

}  // namespace stepscope::write
