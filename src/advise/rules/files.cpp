// Rule of file I/O (I10), for recordings that have nothing else: what its time goes to.
#include <fmt/format.h>

#include <algorithm>

#include "advise/read_again.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::IoOfKind;
using derive::IoKind;

std::string counted(std::int64_t number) { return report::format_value(number, report::Unit::count); }
std::string sized(std::int64_t number) { return report::format_value(number, report::Unit::bytes); }

/// Sums over some kinds of calls. `time`: ns, also where calls overlap.
struct Sum {
  std::int64_t calls = 0, time = 0, bytes = 0;
};

struct Told {
  std::string what, remedy;
};

class FileTime {
 public:
  explicit FileTime(const Evidence& e)
      : kinds_(e.mine(e.reports().files.kinds, "Calls by kind")),
        groups_(e.mine(e.reports().files.groups, "Groups of files")),
        of_(*e.mine(e.reports().files.overlap, "I/O and compute").front()),
        all_(sum([](IoKind) { return true; })),
        reads_(sum([](IoKind kind) { return kind == IoKind::read; })) {}

  Told told() const {
    const Sum syncs = sum([](IoKind kind) { return kind == IoKind::sync; });
    const Sum locks = sum([](IoKind kind) { return kind == IoKind::lock; });
    if (takes(locks.time, kMuchOfIo) && locks.time >= syncs.time) return locking(locks, syncs);
    if (takes(syncs.time, kMostOfIo))
      return {fmt::format("{} waits for the disk (fsync, fflush) take {} of it, {} each",
                          counted(syncs.calls), share(syncs.time), ns(report::mean(syncs.time, syncs.calls))),
              "Wait less often: one fsync per batch of records or after a whole checkpoint, or on another "
              "thread; in "
              "SQLite and other databases one transaction for many rows (BEGIN ... COMMIT, executemany)."};
    if (takes(of_.stored_time, kMostOfIo))
      return {
          fmt::format("{} of it are reads that the page cache does not have, at {}", share(of_.stored_time),
                      rate(reads_)),
          fmt::format("Read {} ahead, in large pieces and in file order, with several threads or workers; "
                      "or copy it to a fast local disk first.",
                      group())};
    const Sum opens = sum([](IoKind kind) { return kind == IoKind::open; });
    const Sum handling = sum(
        [](IoKind kind) { return kind == IoKind::open || kind == IoKind::close || kind == IoKind::read; });
    const Sum handles = sum([](IoKind kind) { return kind == IoKind::open || kind == IoKind::close; });
    if (opens.calls >= kManyFiles && report::ratio(opens.calls, of_.files) >= kReadAgain &&
        takes(handles.time, kMuchOfIo))
      return {fmt::format("{} opened {} times, which takes {} of it with closing",
                          of_.files == 1 ? "one file is" : counted(of_.files) + " files are",
                          counted(opens.calls), share(handles.time)),
              fmt::format("Open {} once and keep it open.", group())};
    if (opens.calls >= kManyFiles && reads_.bytes > 0 &&
        report::mean(reads_.bytes, opens.calls) < kTinyFile && takes(handling.time, kMostOfIo))
      return {fmt::format("{} files are opened, and {} read of each", counted(opens.calls),
                          sized(report::mean(reads_.bytes, opens.calls))),
              fmt::format("Pack {} into few large files: opening and closing take longer than reading, on "
                          "network file systems a round trip each.",
                          group())};
    const Sum asks = sum([](IoKind kind) {
      return derive::is_metadata(kind) && kind != IoKind::open && kind != IoKind::close;
    });
    if (takes(asks.time, kMuchOfIo))
      return {
          fmt::format("{} calls about names (stat, directories) take {} of it", counted(asks.calls),
                      share(asks.time)),
          fmt::format("List {} once and keep names and sizes: os.scandir gives both in one pass.", group())};
    return moving();
  }

 private:
  template <class Take>
  Sum sum(Take take) const {
    Sum all;
    for (const IoOfKind* of : kinds_) {
      if (!take(of->kind)) continue;
      all.calls += of->calls;
      report::add_to(all.time, of->time);
      report::add_to(all.bytes, of->bytes);
    }
    return all;
  }

  Told locking(const Sum& locks, const Sum& syncs) const {
    const bool both = takes(syncs.time, kSomeOfCost);
    return {fmt::format("{} calls for locks on files (flock, lockf, fcntl) take {} of it{}",
                        counted(locks.calls), share(locks.time),
                        both ? fmt::format("; {} waits for the disk (fsync, fflush) take {}, {} each",
                                           counted(syncs.calls), share(syncs.time),
                                           ns(report::mean(syncs.time, syncs.calls)))
                             : ""),
            fmt::format("Take the lock less often and hold it for less: many records at once, one file per "
                        "process, no lock for reading{}.",
                        both ? "; one fsync per batch of records, after the lock is released" : "")};
  }

  Told moving() const {
    const Sum writes = sum([](IoKind kind) { return kind == IoKind::write; });
    for (const auto& [sum, name] : {std::pair{reads_, "reads"}, std::pair{writes, "writes"}})
      if (sum.calls >= kManyFiles && report::mean(sum.bytes, sum.calls) < kTinyRead &&
          takes(sum.time, kMuchOfIo))
        return {fmt::format("{} {} of {} on average take {} of it", counted(sum.calls), name,
                            sized(report::mean(sum.bytes, sum.calls)), share(sum.time)),
                fmt::format("Move {} in larger pieces: a larger buffering= of open(), setvbuf in C, whole "
                            "records at once.",
                            group())};
    if (of_.distinct > 0 && report::ratio(of_.placed_read, of_.distinct) >= kReadAgain &&
        takes(reads_.time, kMuchOfIo))
      return {fmt::format("{} are read from {} of files: each byte {:.1f} times", sized(of_.placed_read),
                          sized(of_.distinct), report::ratio(of_.placed_read, of_.distinct)),
              fmt::format("Keep what was read of {} in memory, or share it among processes (np.memmap).",
                          group())};
    const IoOfKind& most = *kinds_.front();
    return {fmt::format("{} of it are calls of kind {}{}", share(most.time), derive::name_of(most.kind),
                        most.bytes > 0 ? ", at " + rate({most.calls, most.time, most.bytes}) : ""),
            "Do it beside the computation: read ahead, or write on another thread."};
  }

  bool takes(std::int64_t time, double part) const {
    return static_cast<double>(time) >= part * static_cast<double>(all_.time);
  }
  std::string share(std::int64_t time) const { return percent(report::ratio(time, all_.time)); }
  std::string group() const { return groups_.empty() ? "the files" : groups_.front()->group; }
  static std::string rate(const Sum& of) {
    return report::format_value(
        static_cast<double>(of.bytes) * 1e9 / static_cast<double>(std::max<std::int64_t>(1, of.time)),
        report::Unit::bytes_per_s);
  }

  std::vector<const IoOfKind*> kinds_;           ///< most time first
  std::vector<const analyze::IoGroup*> groups_;  ///< most time first
  const analyze::IoOverlap& of_;
  Sum all_, reads_;
};

/// The file of which most bytes are read again after an opening or a jump: its parsing may cost more than its
/// reading.
std::optional<Claim> parsed_again(const Evidence& e, const analyze::IoOverlap& all) {
  ReadAgain most;
  std::int64_t jumps = 0;
  for (const analyze::IoFile* of : e.mine(e.reports().files.reread, "Files")) {
    const ReadAgain again{of->file, of->opens, of->read, of->distinct};
    const std::int64_t out_of_order = of->placed - of->in_order;
    if (std::max(of->opens, out_of_order) >= kManyFiles && again.is_again() && again.is_much(all.window) &&
        again.read - again.distinct > most.read - most.distinct) {
      most = again;
      jumps = out_of_order;
    }
  }
  if (most.read == 0) return std::nullopt;
  const bool is_reopened = most.opens >= jumps;
  Claim f = claim(e, RuleId::I10,
                  fmt::format("{} is {}, in {}, though file I/O takes only {} of {}", most.group, most.told(),
                              is_reopened ? counted(most.opens) + " openings"
                                          : counted(jumps) + " jumps to another place",
                              percent(report::ratio(all.io, all.window)), ns(all.window)));
  f.confidence = Confidence::low;
  f.because =
      "the calls are recorded; what the program does with the bytes is not: unpacking, parsing or "
      "searching them again may take the rest of the time";
  f.evidence = {see::io("files")};
  f.remedy = fmt::format(
      "Read {} once and keep what was parsed, or an index of it, in memory; do many "
      "look-ups in one pass and in one process.{}",
      most.group,
      is_reopened
          ? ""
          : " A compressed file that is read backwards is unpacked again from its beginning: store it "
            "uncompressed, or in blocks with an index.");
  f.verify = "Fewer bytes of the file are read in `stepscope show io`, and the program takes less time.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> file_time(const Evidence& e, Bound bound) {
  if (bound != Bound::files) return std::nullopt;
  const analyze::IoOverlap& all = *e.mine(e.reports().files.overlap, "I/O and compute").front();
  if (e.share(all.io) < kIoShare) return parsed_again(e, all);
  const auto groups = e.mine(e.reports().files.groups, "Groups of files");
  const Told told = FileTime(e).told();
  Claim f = claim(e, RuleId::I10,
                  fmt::format("{} of {} are file I/O: {}{}", ns(all.io), ns(all.window), told.what,
                              groups.empty() ? "" : "; most on " + groups.front()->group));
  f.confidence = Confidence::high;
  f.because = "the calls and their times are recorded";
  f.evidence = {see::io("calls by kind, groups of files")};
  f.remedy = told.remedy;
  f.verify = "The time of these calls in `stepscope show io` falls.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kFileRules[] = {
    {RuleId::I10, "a recording of file I/O alone: what its time goes to", false, file_time,
     R"(Looks at: `io`, in recordings without steps, operators and device work. Fires if calls are open for kIoShare of the
recording. Names the first that holds: locks on files (kMuchOfIo of the calls' time, and more than waits for the disk, which are told if they take kSomeOfCost); waits for the disk (kMostOfIo of the calls' time); reads that the page cache does not have (kMostOfIo);
files that are opened kReadAgain times (kMuchOfIo); kManyFiles files of which less than kTinyFile are read each; calls about names (kMuchOfIo); kManyFiles reads or writes below kTinyRead;
bytes that are read kReadAgain times; else the kind of calls with most time. With less I/O, it names the file that is opened kManyFiles times, or read kManyFiles times not where the last read ended,
and read kOftenAgain times over, at kAgainRate of the recording.

Saving: none is estimated: what the program computes is not recorded.)"},
};

}  // namespace

std::span<const Rule> file_rules() { return kFileRules; }

}  // namespace stepscope::advise
