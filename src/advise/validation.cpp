#include "advise/validation.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/sheet.h"

namespace stepscope::advise {
namespace {

using report::Role;
using report::Unit;

/// A file that was read: a rank's recording, or an execution trace.
struct ReadFile {
  const std::string& path;
  const trace::Reading& reading;
  std::int64_t rank;
};

std::vector<ReadFile> files_of(const trace::Trace& trace) {
  std::vector<ReadFile> files;
  for (const trace::Rank& rank : trace.ranks) files.push_back({rank.path, rank.reading, rank.rank});
  for (const trace::Companion& file : trace.companions) files.push_back({file.path, file.reading, file.rank});
  return files;
}

const report::Sheet<ReadFile> kFileSheet{
    "Files",
    report::Shape::table,
    {{"file", +[](const ReadFile& of) { return of.path; }},
     {"format", +[](const ReadFile& of) { return of.reading.format; }, Role::value},
     {"rank", +[](const ReadFile& of) { return of.rank < 0 ? report::kNoInt : of.rank; }, Unit::none},
     {"complete", +[](const ReadFile& of) { return std::string(of.reading.complete ? "yes" : "no"); },
      Role::value},
     {"events", +[](const ReadFile& of) { return of.reading.events; }, Unit::count},
     {"damaged_stretches", +[](const ReadFile& of) { return of.reading.losses; }, Unit::count},
     {"text", +[](const ReadFile& of) { return of.reading.text_bytes; }, Unit::bytes},
     {"lost", +[](const ReadFile& of) { return of.reading.lost_bytes; }, Unit::bytes},
     {"clamped_times", +[](const ReadFile& of) { return of.reading.clamped_times; }, Unit::count},
     {"unmatched_ends", +[](const ReadFile& of) { return of.reading.unmatched_ends; }, Unit::count},
     {"open_begins", +[](const ReadFile& of) { return of.reading.open_begins; }, Unit::count}}};

struct LostStretch {
  std::string_view file;
  std::int64_t byte, length;
  std::string_view reason;
};

const report::Sheet<LostStretch> kDamageSheet{"Damage",
                                              report::Shape::table,
                                              {{"file", &LostStretch::file},
                                               {"byte", &LostStretch::byte, Unit::none, Role::key},
                                               {"length", &LostStretch::length, Unit::bytes},
                                               {"reason", &LostStretch::reason, Role::value}}};

report::Table damage(const std::vector<ReadFile>& files) {
  std::vector<LostStretch> stretches;
  for (const ReadFile& of : files)
    for (const trace::Loss& loss : of.reading.first_losses)
      stretches.push_back({of.path, loss.byte, loss.bytes < 0 ? report::kNoInt : loss.bytes, loss.reason});
  return tabulate(kDamageSheet, stretches, true);
}

struct BreachedKind {
  std::string_view file, kind;
  std::int64_t count, first;
};

const report::Sheet<BreachedKind> kBreachSheet{"What other readers refuse",
                                               report::Shape::table,
                                               {{"file", &BreachedKind::file},
                                                {"kind", &BreachedKind::kind},
                                                {"count", &BreachedKind::count, Unit::count},
                                                {"first_byte", &BreachedKind::first, Unit::none, Role::key}}};

report::Table breaches(const std::vector<trace::BreachedFile>& files) {
  constexpr std::int64_t kSeveral = 2;
  std::vector<BreachedKind> kinds;
  for (const trace::BreachedFile& file : files)
    for (std::size_t k = 0; k < trace::kBreaches; ++k)
      if (const auto& [count, first] = file.breaches.kinds[k]; count > 0)
        kinds.push_back({file.path, words_of(static_cast<trace::Breach>(k), kSeveral), count, first});
  return tabulate(kBreachSheet, kinds, true);
}

std::string refused(const trace::BreachedFile& file) {
  return fmt::format(
      "{0}: other readers refuse this text: {1}. `stepscope merge {0} -o mended.json` writes it as strict "
      "JSON.",
      file.path, text_of(file.breaches, true));
}

bool is_damaged(const trace::Reading& r) { return !r.complete || r.losses > 0; }

/// What is wrong with the file, "" if nothing is.
std::string trouble(const trace::Reading& r) {
  if (!r.complete) return "it ends early, as if the job was killed; other commands use what is there.";
  if (r.losses > 0) return "parts of it could not be used; other commands use the rest.";
  if (r.clamped_times > 0)
    return fmt::format(
        "{} event{} had a missing, negative or absurd time; such events are left out or have no length.",
        r.clamped_times, r.clamped_times == 1 ? "" : "s");
  if (r.crowded_args > 0)
    return fmt::format(
        "the args of {} event{} are kept as one text, \"(more args)\": the file has too many different keys, "
        "or an event over 256.",
        r.crowded_args, r.crowded_args == 1 ? "" : "s");
  if (r.unmatched_ends > 0)
    return fmt::format("{} end event{} (ph E) had no begin and {} left out.", r.unmatched_ends,
                       r.unmatched_ends == 1 ? "" : "s", r.unmatched_ends == 1 ? "is" : "are");
  return "";
}

std::string files_title(std::size_t damaged_files, std::size_t files, bool absurd_times, bool no_begins,
                        bool crowded, bool contradicts, bool strict) {
  if (damaged_files > 0)
    return fmt::format("{} of {} file{} {} damaged", damaged_files, files, files == 1 ? "" : "s",
                       damaged_files == 1 ? "is" : "are");
  return absurd_times  ? "Every file was read to its end; some events have impossible times"
         : crowded     ? "Every file was read to its end; some events have too many args to index"
         : contradicts ? "Every file was read to its end; some files contradict themselves"
         : no_begins   ? "Every file was read to its end; some range ends have no begin"
         : !strict     ? "Every file was read to its end; other readers refuse some of the text"
                       : "Every file was read to its end without loss";
}

}  // namespace

Validation validation(const trace::Trace& trace, const std::vector<trace::BreachedFile>& breached,
                      bool in_notes) {
  const std::vector<ReadFile> files = files_of(trace);
  report::Report report{"validate", {tabulate(kFileSheet, files, true)}, {}};
  report::Table lost = damage(files);
  if (lost.rows() > 0 && !in_notes) report.tables.push_back(std::move(lost));
  if (!breached.empty() && !in_notes) report.tables.push_back(breaches(breached));
  std::size_t bad = trace.unread.size();
  bool absurd_times = false, no_begins = false, crowded = false;
  for (const std::string& reason : trace.unread) report.notes.push_back("Not read: " + reason);
  for (const ReadFile& of : files) {
    const trace::Reading& reading = of.reading;
    bad += is_damaged(reading);
    absurd_times |= reading.clamped_times > 0;
    no_begins |= reading.unmatched_ends > 0;
    crowded |= reading.crowded_args > 0;
    if (const std::string wrong = trouble(reading); !wrong.empty())
      report.notes.push_back(of.path + ": " + wrong);
    if (const std::int64_t open = reading.open_begins; open > 0)
      report.notes.push_back(
          fmt::format("{}: {} begin event{} (ph B) had no end and {} extended to the thread's last event.",
                      of.path, open, open == 1 ? "" : "s", open == 1 ? "is" : "are"));
    for (const trace::Loss& loss : reading.first_losses)
      if (in_notes) report.notes.push_back(of.path + ": " + loss.text());
  }
  bool contradicts = false;
  for (const trace::Companion& file : trace.companions) {
    contradicts |= !file.faults.empty();
    for (const std::string& fault : file.faults) report.notes.push_back(file.path + ": " + fault);
  }
  for (const trace::BreachedFile& file : breached) report.notes.push_back(refused(file));
  report.tables.front().title = files_title(bad, files.size() + trace.unread.size(), absurd_times, no_begins,
                                            crowded, contradicts, breached.empty());
  const bool fine = bad == 0 && !absurd_times && !no_begins && !contradicts;
  return {std::move(report), fine, fine && breached.empty()};
}

}  // namespace stepscope::advise
