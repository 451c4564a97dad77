// Rule of files that hold up the steps (I11): the main thread handles them, or waits for a thread that does.
#include <fmt/format.h>

#include <algorithm>

#include "advise/places.h"
#include "advise/read_again.h"
#include "advise/rules/constants.h"
#include "advise/rules/families.h"
#include "advise/say.h"
#include "advise/see.h"
#include "report/statistics.h"

namespace stepscope::advise {
namespace {

using analyze::HoldingFiles;

std::string number_of(std::int64_t number) { return report::format_value(number, report::Unit::count); }
std::string bytes_of(std::int64_t number) { return report::format_value(number, report::Unit::bytes); }

/// What is wrong with how files are handled. `sure`: the handling can go; else it can be moved.
struct Fault {
  std::string what, remedy;
  bool sure = true;
};

ReadAgain read_again_of(const Evidence& e, const HoldingFiles& of) {
  return {of.group, of.opens, of.placed_read, of.distinct, e.steps()};
}

Fault fault_of(const HoldingFiles& of, const ReadAgain& again) {
  const std::int64_t moved = of.reads + of.writes;
  const std::int64_t mean = report::mean(report::plus(of.read, of.written), std::max<std::int64_t>(1, moved));
  const bool by_calls = static_cast<double>(of.io) >= kIoShare * static_cast<double>(of.time);
  const bool opened_again = of.opens >= kManyFiles && report::ratio(of.opens, of.files) >= kReadAgain;
  if (moved >= kManyFiles && mean < kTinyRead && by_calls && of.opens < moved / 2)
    return {fmt::format("{} {} of {} on average", number_of(moved), of.writes > of.reads ? "writes" : "reads",
                        bytes_of(mean)),
            fmt::format(
                "Move {} in larger pieces: open() with its default buffering, whole records or np.fromfile "
                "at once, one write for many lines; setvbuf in C.",
                of.group)};
  if (again.is_again()) return {again.told(), again.remedy()};
  if (of.files >= kManyFiles && of.read > 0 && report::mean(of.read, of.opens) < kTinyFile)
    return {
        fmt::format("{} files are opened {} times, and {} read of each", number_of(of.files),
                    number_of(of.opens), bytes_of(report::mean(of.read, of.opens))),
        fmt::format("Pack {} into few large files that need no parsing (np.save, torch.save), and read each "
                    "in one call; or read them once, before the loop.",
                    of.group)};
  if (opened_again && of.written > of.read)
    return {
        fmt::format("opened {} times and written anew, {} in all", number_of(of.opens), bytes_of(of.written)),
        fmt::format("Keep {} open and append what is new (one JSON line per step); write it whole every N "
                    "steps or at the end.",
                    of.group)};
  if (opened_again)
    return {fmt::format("opened {} times", number_of(of.opens)),
            fmt::format("Open {} once and keep it open; keep what was read of it.", of.group)};
  if (of.asks >= kManyFiles && 2 * of.asks > of.calls)
    return {fmt::format("{} calls about names (stat, directories)", number_of(of.asks)),
            fmt::format("List {} once and keep names and sizes.", of.group)};
  if (again.times() >= kReadAgain)
    return {
        again.told(),
        fmt::format("Read and parse {} once, before the loop, and keep the result; or save it in a form that "
                    "needs no parsing (np.save, torch.save), read by a DataLoader's workers.",
                    of.group)};
  return {of.read >= of.written ? bytes_of(of.read) + " read" : bytes_of(of.written) + " written",
          of.read >= of.written
              ? fmt::format("Read {} ahead of the steps: a DataLoader with workers, or a thread that fills a "
                            "queue; in a form that needs no parsing (np.save, torch.save).",
                            of.group)
              : fmt::format("Write {} on another thread, or every N steps.", of.group),
          false};
}

std::string at_line(const std::string& line) { return line.empty() ? "" : " in " + placed(line); }

std::optional<Claim> held_up(const Evidence& e, Bound bound) {
  if (bound == Bound::files) return std::nullopt;
  const auto all = e.mine(e.reports().files.holding, "Files that hold up the steps");
  if (all.empty()) return std::nullopt;
  const auto cost_of = [&](const HoldingFiles& files) {
    const ReadAgain again = read_again_of(e, files);
    return again.is_again() && again.is_much(files.line_time) ? files.line_time : files.time;
  };
  const HoldingFiles& of =
      **std::ranges::max_element(all, {}, [&](const HoldingFiles* files) { return cost_of(*files); });
  const std::int64_t cost = cost_of(of);
  const bool is_synced = of.syncs >= e.steps();  // I09
  if (e.share(cost) < kHoldingShare || is_synced) return std::nullopt;
  const Fault fault = fault_of(of, read_again_of(e, of));
  const std::string handles = of.written > of.read ? "writes" : "reads";
  const std::string who = of.beside
                              ? fmt::format("the main thread waits{} for another thread that {} {}{}",
                                            at_line(of.waiting_line), handles, of.group, at_line(of.line))
                              : fmt::format("the main thread {} {}{}", handles, of.group, at_line(of.line));
  Claim f = claim(e, RuleId::I11, fmt::format("{}: {}: {}", of_step(e, cost), who, fault.what));
  f.line = of.beside ? of.waiting_line : of.line;
  save(f, cost / e.steps(), fault.sure ? kSavingLeast : 0, bound == Bound::host_only ? kSlowedToo : 1);
  f.confidence = Confidence::medium;
  f.because = fmt::format(
      "the calls are recorded; {} of the time is in them, the rest is what the thread does "
      "with the bytes",
      percent(report::ratio(of.io, cost)));
  f.evidence = {see::io(fmt::format("files that hold up the steps, {}", per_step(e, cost)))};
  f.at = of.longest;
  f.remedy = fault.remedy;
  f.verify = "The time of these files in `stepscope show io` falls under a tenth of the window.";
  f.effort = Effort::code;
  return f;
}

constexpr Rule kHoldingRules[] = {
    {RuleId::I11, "the steps wait for files that the program handles without a loader", false, held_up,
     R"(Looks at: *Files that hold up the steps* of `io`: what the main thread does with files outside of loaders, or
another thread for which it waits (a queue, a pool, join), while nothing computes. Fires if the dearest group takes kHoldingShare of the
window. All time of the line that handles it counts, if bytes are read again (kAgainPerRound of the steps, kReadAgain; without steps kOftenAgain) at
kAgainRate. Names the first that holds: kManyFiles reads or writes below kTinyRead, if calls take kIoShare of the time; bytes
that are read again; kManyFiles files of which less than kTinyFile are read each; files that are opened kReadAgain times, at least kManyFiles; kManyFiles calls about names; files read kReadAgain times in passes over the data; else how much is read or written.

Saving: kSavingLeast to kSlowedToo of that time; from 0 if nothing is wrong with the calls.

Silent on: checkpoints (I08); files synced in each step (I09); loaders (I01, I02); waits for other threads without Python stacks.)"},
};

}  // namespace

std::span<const Rule> holding_rules() { return kHoldingRules; }

}  // namespace stepscope::advise
