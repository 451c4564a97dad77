// Rules of input and output (I): the training process writes files while nothing computes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/places.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::SavedFile;

std::int64_t stall_of(const SavedFile& saved) {
  return saved.exposed == report::kNoInt ? saved.stall : saved.exposed;
}

std::string sized(std::int64_t number) { return report::format_value(number, report::Unit::bytes); }

std::string in_line(const std::string& line) { return line.empty() ? "" : " in " + placed(line); }

std::optional<Claim> checkpoint(const Evidence& e, Bound) {
  std::int64_t cost = 0, written = 0, synced = 0;
  std::map<std::string, std::int64_t> by_file;
  const SavedFile* longest = nullptr;
  const auto all = e.mine(e.reports().files.saved, "Large files written by the main process");
  for (const SavedFile* saved : all) {
    report::add_to(cost, stall_of(*saved));
    report::add_to(written, saved->written);
    report::add_to(synced, saved->sync);
    report::add_to(by_file[saved->file], stall_of(*saved));
    if (longest == nullptr || stall_of(*saved) > stall_of(*longest)) longest = saved;
  }
  if (longest == nullptr || e.share(cost) < kSavingShare) return std::nullopt;
  const auto most = std::max_element(by_file.begin(), by_file.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  Claim f = claim(
      e, RuleId::I08,
      fmt::format(
          "{}: training stands while files are written{}: {} in {}, most to {}{}", of_step(e, cost),
          in_line(longest->line), sized(written),
          all.size() == 1 ? "one file" : fmt::format("{} files", all.size()), most->first,
          2 * synced > cost ? fmt::format("; {} of it is fsync", percent(report::ratio(synced, cost))) : ""));
  f.line = longest->line;
  save(f, cost / e.steps(), kSavingLeast, 1);
  f.typical = report::ratio(std::min<std::int64_t>(std::ssize(all), e.steps()), e.steps());
  f.seen = std::min<std::int64_t>(std::ssize(all), e.steps());
  f.confidence = Confidence::high;
  f.because = "the calls are on the main thread, and their time is recorded";
  f.evidence = {see::io(fmt::format("large files written by the main process, {}", per_step(e, cost)))};
  f.at = {longest->start, longest->stall};
  f.remedy =
      "Copy the state to host memory and write it in the background: "
      "torch.distributed.checkpoint.async_save, or a thread "
      "that writes a copy. Save less often, without what can be computed again; fsync once, at the end.";
  f.verify = "The stall of these files in `stepscope show io` falls, or lies outside of the main thread.";
  f.effort = Effort::code;
  return f;
}

std::optional<Claim> syncing(const Evidence& e, Bound) {
  const auto files = e.mine(e.reports().files.flushed, "Files that the main thread waits for");
  if (files.empty()) return std::nullopt;
  const analyze::FlushedFile& of = *files.front();
  const std::int64_t cost = of.exposed == report::kNoInt ? of.stall : of.exposed;
  if (e.share(cost) < kSavingShare || of.flushes < e.steps()) return std::nullopt;
  Claim f =
      claim(e, RuleId::I09,
            fmt::format("{}: the main thread writes {} in {} calls of {} and waits for the disk {} times{}",
                        of_step(e, cost), of.file, report::format_value(of.writes, report::Unit::count),
                        of.writes > 0 ? sized(of.written / of.writes) : "no bytes",
                        report::format_value(of.flushes, report::Unit::count), in_line(of.line)));
  f.line = of.line;
  save(f, cost / e.steps(), kSavingLeast, 1);
  f.confidence = Confidence::high;
  f.because = "the calls are on the main thread, and their time is recorded";
  f.evidence = {see::io(fmt::format("files that the main thread waits for, {}", per_step(e, cost)))};
  f.at = of.longest;
  f.remedy =
      "Write the log from another thread (logging.handlers.QueueHandler), without flush and fsync for each "
      "line, and to a "
      "local disk.";
  f.verify = "The time of this file in `stepscope show io` falls under 1 % of the step.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kSavingRules[] = {
    {RuleId::I08, "training stands while files are written", false, checkpoint,
     R"(Looks at: *Large files written by the main process* of `io`. Fires when the main thread's calls on them take
kSavingShare of the window in which no device works; where no device is recorded, kSavingShare of the window.

Saving: kSavingLeast of that time to all of it: a copy to host memory stays.

Silent on: files that another thread or process writes.)"},
    {RuleId::I09, "the main thread waits for the disk, file by file or line by line", false, syncing,
     R"(Looks at: *Files that the main thread waits for* of `io`. Fires when writes and fsyncs of small files take
kSavingShare of the window in which no device works (as I08), and each step waits at least once.

Saving: as I08.

Silent on: checkpoints (I08).)"},
};

}  // namespace

std::span<const Rule> saving_rules() { return kSavingRules; }

}  // namespace stepscope::advise
