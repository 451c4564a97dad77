#include <fmt/format.h>

#include "cli/exit.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

using report::Role;
using report::Unit;

report::Table files(const trace::Trace& trace) {
  report::Table table{"Files", report::Shape::table, {}};
  auto& file = table.texts("file");
  auto& format = table.texts("format", Role::value);
  auto& rank = table.ints("rank", Unit::none);
  auto& complete = table.texts("complete", Role::value);
  auto& events = table.ints("events", Unit::count);
  auto& damaged = table.ints("damaged_stretches", Unit::count);
  auto& text = table.ints("text", Unit::bytes);
  auto& lost = table.ints("lost", Unit::bytes);
  auto& clamped = table.ints("clamped_times", Unit::count);
  auto& unmatched = table.ints("unmatched_ends", Unit::count);
  for (const trace::Rank& r : trace.ranks) {
    file.push_back(r.path);
    format.push_back(r.reading.format);
    rank.push_back(r.rank < 0 ? report::kNoInt : r.rank);
    complete.emplace_back(r.reading.complete ? "yes" : "no");
    events.push_back(r.reading.events);
    damaged.push_back(r.reading.losses);
    text.push_back(r.reading.text_bytes);
    lost.push_back(r.reading.lost_bytes);
    clamped.push_back(r.reading.clamped_times);
    unmatched.push_back(r.reading.unmatched_ends);
  }
  return table;
}

report::Table damage(const trace::Trace& trace) {
  report::Table table{"Damage", report::Shape::table, {}};
  auto& file = table.texts("file");
  auto& at = table.ints("byte", Unit::none, Role::key);
  auto& length = table.ints("length", Unit::bytes);
  auto& reason = table.texts("reason", Role::value);
  for (const trace::Rank& r : trace.ranks) {
    for (const trace::Loss& loss : r.reading.first_losses) {
      file.push_back(r.path);
      at.push_back(loss.byte);
      length.push_back(loss.bytes < 0 ? report::kNoInt : loss.bytes);
      reason.push_back(loss.reason);
    }
  }
  return table;
}

bool sound(const trace::Rank& rank) {
  const trace::Reading& r = rank.reading;
  return r.complete && r.losses == 0 && r.clamped_times == 0;
}

}  // namespace

int run_validate(const Call& call) {
  if (call.words.empty())
    return misuse(call, "validate needs a trace: a file, a directory, or - for standard input");
  auto trace = open_trace(call, call.words);
  if (!trace) return fail(trace.error());
  report::Report report{"validate", {files(*trace)}, {}};
  report::Table lost = damage(*trace);
  if (lost.rows() > 0) report.tables.push_back(std::move(lost));
  std::size_t bad = trace->unread.size();
  for (const std::string& reason : trace->unread) report.notes.push_back("Not read: " + reason);
  for (const trace::Rank& rank : trace->ranks) {
    if (sound(rank)) continue;
    ++bad;
    report.notes.push_back(rank.path + ": " +
                           (rank.reading.complete
                                ? "parts of it could not be used; every other command works on the rest."
                                : "it ends early, as when a job is killed; every other command works on "
                                  "what is there."));
  }
  report.tables.front().title =
      bad == 0 ? "Every file was read to its end without loss"
               : fmt::format("{} of {} files are damaged", bad, trace->ranks.size() + trace->unread.size());
  const int printed = print(call, report);
  return printed != kDone ? printed : bad == 0 ? kDone : kFailed;
}

}  // namespace stepscope::cli
