#include "read/darshan/darshan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "read/darshan/segment.h"
#include "read/line_text.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kLongestWord = 255, kLongestName = 4096;  // bytes

/// The text between `key` and the next comma; "" without the key.
std::string_view word_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return "";
  line.remove_prefix(at + key.size());
  return trimmed(line.substr(0, line.find(','))).substr(0, kLongestWord);
}

/// The text behind `key`; nullopt if the line does not begin with it.
std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return trimmed(line.substr(key.size()));
}

/// "POSIX\t0\t17\tPOSIX_OPENS\t2\t/a\t/\text4", or a sum of darshan-parser --total.
bool is_counter(std::string_view line) {
  return std::ranges::count(line, '\t') >= 5 || line.starts_with("total_");
}

constexpr std::string_view kLog = "# darshan log version:", kFile = "# DXT, file_id: ";

struct Job {
  std::int64_t start = 0;  ///< ns since 1970; 0: not known
  std::string command;
};

/// A file of a rank: the header above its segments.
struct FileOfRank {
  std::string id, name, host;  ///< name: "" if the header is missing
  std::int64_t declared = -1;  ///< segments, as the header says
  std::int64_t seen = 0;
};

class DarshanText : public LineText {
 public:
  using LineText::LineText;

  /// Reads up to the first call. An Error if there is none.
  std::optional<Error> find_call(const std::string& path) {
    while (!begun_ && !has_ended()) step();
    if (begun_) return std::nullopt;
    constexpr std::string_view kRemedy =
        "; `darshan-dxt-parser LOG > calls.txt` writes the calls of a job that ran with "
        "DXT_ENABLE_IO_TRACE=1";
    constexpr std::string_view kIncomplete =
        "; if `darshan-dxt-parser` called the log incomplete, its option --show-incomplete writes what is "
        "there";
    if (counters_ > 0)
      return Error{fmt::format("has Darshan's counters: sums for each file, and no single calls{}", kRemedy),
                   path};
    if (without_dxt_) return Error{fmt::format("is of a Darshan log without DXT data{}", kRemedy), path};
    const bool damaged = !faults.empty();
    return Error{fmt::format("is Darshan's text with no read or write in it{}{}",
                             damaged ? ": " + faults.front().reason : "", kIncomplete),
                 path, damaged ? faults.front().offset : -1};
  }

 private:
  static constexpr std::size_t kMostKnown = std::size_t{1} << 20;  // threads, files

  void finish() override {
    end_file();
    if (begun_) end_document();
  }

  void line(std::string_view text) override {
    const auto length = static_cast<std::int64_t>(text.size()) + 1;
    const std::string_view of = trimmed(text);
    if (of.empty() || of.starts_with('#') || of.starts_with("Warning:"))
      header(of);
    else if (const auto segment = darshan_segment(of, threads_))
      call(*segment);
    else if (is_counter(of))
      ++counters_;
    else
      damaged(length);
    read_ += length;
  }

  void damaged(std::int64_t length) {
    ++of_rank_.seen;
    add_fault(read_, "the line is no read or write of X_POSIX or X_MPIIO with offset, length, start and end",
              length);
  }

  void header(std::string_view line) {
    if (line.empty() || line.starts_with(kLog) || line.starts_with(kFile)) end_file();
    if (line.starts_with("# *WARNING*") && has(line, "DXT_") && has(line, "incomplete")) incomplete_ = true;
    if (line.starts_with("# no DXT module data")) without_dxt_ = true;
    if (line.starts_with("# Module")) threads_ = has(line, "Pthread-ID");
    if (line.starts_with(kLog)) begins_job_ = true, job_ = Job{};
    if (const auto exe = after(line, "# exe: ")) job_.command = exe->substr(0, kLongestName);
    if (const auto start = after(line, "# start_time: "))
      job_.start = std::max<std::int64_t>(0, darshan_seconds(*start));
    if (!line.starts_with("# DXT, ")) return;
    if (line.starts_with(kFile)) of_rank_.id = word_after(line, kFile);
    constexpr std::string_view kName = "file_name: ";
    if (const std::size_t at = line.find(kName); line.starts_with(kFile) && at != std::string_view::npos)
      of_rank_.name = line.substr(at + kName.size(), kLongestName);
    if (of_rank_.name == "(null)") of_rank_.name = "";
    if (line.starts_with("# DXT, rank: ")) of_rank_.host = word_after(line, "hostname: ");
    const std::int64_t writes = darshan_number(word_after(line, "write_count: "), -1);
    const std::int64_t reads = darshan_number(word_after(line, "read_count: "), -1);
    if (writes >= 0 && reads >= 0) of_rank_.declared = writes + reads;
  }

  /// What the header of a file announced and the text does not have is lost.
  void end_file() {
    if (of_rank_.declared > of_rank_.seen)
      add_fault(read_, fmt::format("{} of {} reads and writes of a file are missing",
                                   of_rank_.declared - of_rank_.seen, of_rank_.declared));
    of_rank_ = FileOfRank{};
  }

  /// A text may have several logs, whose ranks are other processes.
  void begin_job() {
    if (begun_) first_process_ = last_process_ + 1;
    if (!begun_) begin_document();
    begins_job_ = false;
    if (job_.start == 0) unknown_start_ = true;
  }

  void begin_document() {
    begun_ = true;
    base_ = job_.start;
    text_ += fmt::format(R"({{"schemaVersion": 1, "stepscope.darshan": 1, "baseTimeNanoseconds": {})", base_);
    if (!job_.command.empty()) append_json(text_ += R"(, "command": )", job_.command);
    text_ += R"(, "traceEvents": [)";
  }

  void call(const DarshanSegment& segment) {
    if (begins_job_) begin_job();
    ++of_rank_.seen;
    const bool range = segment.mpi && has_posix_.contains(of_rank_.id);
    if (!segment.mpi && !of_rank_.id.empty() && has_posix_.size() < kMostKnown)
      has_posix_.insert(of_rank_.id);
    const std::int64_t process = first_process_ + segment.rank;
    last_process_ = std::max(last_process_, process);
    const std::int64_t thread = std::max<std::int64_t>(0, segment.thread) + range;  // ids are even
    name_tracks(process, thread, segment.rank, range);
    ranges_ += range;
    text_ +=
        fmt::format(R"({}
{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": )",
                    comma(), range ? "user_annotation" : "posix_call", name_of(segment), process, thread);
    append_us(job_.start + segment.begin - base_);
    text_ += R"(, "dur": )";
    append_us(segment.end - segment.begin);
    text_ += R"(, "args": {)";
    if (!of_rank_.name.empty()) {
      append_json(text_ += R"("fname": )", of_rank_.name);
      text_ += ", ";
    }
    if (segment.offset >= 0) text_ += fmt::format(R"("offset": {}, )", segment.offset);
    text_ += fmt::format(R"("{}": {}}}}})", range ? "size" : "ret", segment.length);
  }

  static std::string_view name_of(const DarshanSegment& segment) {
    if (segment.mpi) return segment.writes ? "MPI_File_write" : "MPI_File_read";
    return segment.writes ? "write" : "read";
  }

  void name_tracks(std::int64_t process, std::int64_t thread, std::int64_t rank, bool range) {
    if (named_.size() >= kMostKnown) return;
    if (named_.insert({process, -1}).second) {
      text_ += fmt::format(R"({}
{{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {{"name": )",
                           comma(), process);
      append_json(text_, of_rank_.host.empty() ? fmt::format("rank {}", rank)
                                               : fmt::format("rank {} on {}", rank, of_rank_.host));
      text_ += "}}";
    }
    if (range && named_.insert({process, thread}).second)
      text_ += fmt::format(R"({}
{{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "MPI-IO"}}}})",
                           comma(), process, thread);
  }

  const char* comma() { return std::exchange(first_, false) ? "" : ","; }

  void append_us(std::int64_t ns) {
    if (ns < 0) text_ += '-';
    const std::int64_t size = ns < 0 ? -ns : ns;
    text_ += fmt::format("{}.{:03}", size / 1000, size % 1000);
  }

  void end_document() {
    std::vector<std::string> notes = {
        "Darshan's DXT has reads and writes only, in steps of 0.1 ms from a start that is known to 1 s."};
    if (ranges_ > 0)
      notes.push_back(fmt::format(
          "Calls of MPI-IO on files that also have POSIX calls are ranges, so that bytes count once: {}.",
          ranges_));
    if (counters_ > 0) notes.emplace_back("Darshan's counters in the file are not read: they are sums.");
    if (unknown_start_)
      notes.emplace_back("The text has no line `# start_time:`; times count from the job's start.");
    if (incomplete_)
      notes.emplace_back(
          "Darshan ran out of memory for DXT: later calls are missing. A larger DARSHAN_MODMEM (MiB) keeps "
          "more.");
    text_ += "\n], \"stepscope.not_recorded\": [";
    for (const std::string& note : notes) append_json(text_ += &note == notes.data() ? "" : ", ", note);
    text_ += "]}\n";
  }

  std::int64_t base_ = 0, counters_ = 0, ranges_ = 0;
  std::int64_t first_process_ = 0, last_process_ = 0;  // of the job
  bool begun_ = false, first_ = true, begins_job_ = true;
  bool threads_ = false, without_dxt_ = false, incomplete_ = false, unknown_start_ = false;
  Job job_;
  FileOfRank of_rank_;
  std::set<std::string, std::less<>> has_posix_;           // ids of files with POSIX segments
  std::set<std::pair<std::int64_t, std::int64_t>> named_;  // process and thread
};

}  // namespace

bool is_darshan(std::string_view head) {
  for (int lines = 0; lines < 16 && !head.empty(); ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    const std::string_view of = trimmed(line);
    if (of.starts_with(kLog) || of.starts_with(kFile) || of.starts_with("# Module    Rank  Wt/Rd") ||
        of.starts_with("#<module>\t<rank>") || darshan_segment(of, false) ||
        (is_counter(of) && (has(of, "\tPOSIX_") || has(of, "\tSTDIO_") || has(of, "\tMPIIO_"))))
      return true;
    head.remove_prefix(std::min(head.size(), line.size() + 1));
  }
  return false;
}

Result<std::unique_ptr<ByteSource>> darshan_text(std::unique_ptr<ByteSource> file, const std::string& path) {
  auto text = std::make_unique<DarshanText>(std::move(file));
  if (auto error = text->find_call(path)) return *std::move(error);
  return std::unique_ptr<ByteSource>(std::move(text));
}

}  // namespace stepscope::read
