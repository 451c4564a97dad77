// Answers drawn into a copy of a recording.
#include "merge/overlay.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "analyze/drawing.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "write/output.h"

namespace stepscope::cli {
namespace {

/// Why this command line is invalid, or "".
std::string misfit(const Call& call, const std::vector<std::string>& what) {
  const std::string_view output = call.params.text("output");
  std::error_code unknown;
  if (call.words.size() > 1 ||
      (call.words.size() == 1 && std::filesystem::is_directory(call.words[0], unknown)))
    return "overlay takes one file, not a folder or several files: overlay each rank's file, then merge the "
           "copies";
  if (call.words.empty())
    return "overlay needs one file: stepscope overlay trace.json.gz -o overlaid.json.gz";
  if (!output.ends_with(".json") && !output.ends_with(".json.gz"))
    return "overlay needs an output file that ends in .json.gz or .json: -o overlaid.json.gz";
  if (call.params.flag("all-edges") && call.params.flag("only-critical"))
    return "--all-edges draws edges to events that --only-critical drops; give only one of them";
  if (call.params.has("what") && what.empty())
    return "--what is empty; give critical_path, queue_length or memory_bandwidth";
  return analyze::undrawable(what, call.params);
}

/// The drawing; the trace is freed before this returns.
Result<report::Drawing> drawing_of(const Call& call, const std::vector<std::string>& what) {
  const auto trace = open_trace(call, call.words);
  if (!trace) return trace.error();
  if (trace->ranks.size() != 1)
    return Error{"holds merged recordings; overlay each rank's own file, then merge the copies",
                 call.words[0]};
  analyze::Sketch sketch =
      analyze::sketch_of(analyze::Derived(*trace, call.params), trace->ranks.front(), what, call.params);
  if (std::string absent = analyze::absent_range(sketch, call.params); !absent.empty())
    return Error{std::move(absent), call.words[0]};
  for (const std::string& note : sketch.notes) say("note: " + note);
  return std::move(sketch.drawing());
}

}  // namespace

int run_overlay(const Call& call) {
  const std::vector<std::string> what = call.params.texts("what");
  if (const std::string why = misfit(call, what); !why.empty()) return misuse(call, why);
  const auto drawing = drawing_of(call, what);
  if (!drawing) return fail(drawing.error());
  Progress progress(shows_progress(call));
  merge::OverlayOptions options;
  options.threads = open_options(call, progress).threads;
  options.gzip = call.params.text("output").ends_with(".gz");
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.tell(done, total); };
  auto output = write::Output::open(std::string(call.params.text("output")));
  if (!output) return fail(output.error());
  const auto overlaid = merge::write_overlay(call.words[0], *drawing, options,
                                             [&](std::string_view bytes) { return output->write(bytes); });
  if (!overlaid) return fail(overlaid.error());
  if (const auto error = output->finish()) return fail(*error);
  if (!overlaid->damage.empty())
    say(fmt::format("note: {}: {}. The readable part is in the copy.", call.words[0], overlaid->damage));
  if (!overlaid->mended.empty()) say(fmt::format("note: {}: {}", call.words[0], overlaid->mended));
  const auto count = [](std::size_t number, const char* one) {
    return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
  };
  say(fmt::format("drew {}, {} and {} into a copy of {} events", count(drawing->critical.size(), "event"),
                  count(drawing->arrows.size(), "arrow"), count(drawing->counters.size(), "counter"),
                  overlaid->events));
  say_written(call);
  return kDone;
}

}  // namespace stepscope::cli
