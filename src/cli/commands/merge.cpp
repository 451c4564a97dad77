#include "merge/merge.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "read/files.h"
#include "report/units.h"

namespace stepscope::cli {
namespace {

/// The files given as words and with --inputs.
std::vector<std::string> inputs_of(const Call& call) {
  std::vector<std::string> inputs = call.params.texts("inputs");
  inputs.insert(inputs.end(), call.words.begin(), call.words.end());
  return inputs;
}

void say_merged(const merge::Merged& merged) {
  std::int64_t events = 0, ranks = 0;
  for (const merge::Source& source : merged.sources) {
    ranks += !source.foreign;
    events += source.found.events;
  }
  const auto others = static_cast<std::int64_t>(merged.sources.size()) - ranks;
  for (const std::string& note : merged.notes) say("note: " + note);
  say(fmt::format("merged {} rank{}{}: {} events", ranks, ranks == 1 ? "" : "s",
                  others == 0 ? "" : fmt::format(" and {} other recording{}", others, others == 1 ? "" : "s"),
                  report::format_value(events, report::Unit::count)));
}

}  // namespace

int run_merge(const Call& call) {
  const std::string path(call.params.text("output"));
  const std::vector<std::string> inputs = inputs_of(call);
  if (inputs.empty())
    return misuse(call, "merge needs files: stepscope merge rank0.json rank1.json -o merged.json.gz");
  if (path.empty()) return misuse(call, "merge needs an output file: -o merged.json.gz");
  if (const std::string why = merge::ending_refused(path); !why.empty()) return misuse(call, "-o " + why);
  auto files = read::files_of(inputs, read::kMergeable);
  if (!files) return fail(files.error());
  if (const std::string why = merge::refused(*files, path); !why.empty()) return misuse(call, why);
  Progress progress(shows_progress(call));
  merge::MergeOptions options;
  options.threads = static_cast<unsigned>(std::min<std::int64_t>(call.params.integer("threads"), 1024));
  options.align = !call.params.has("no-align");
  options.all_runs = call.params.flag("all-runs");
  options.run = call.params.integer("run");
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.tell(done, total); };
  options.activity = [&](const std::string& activity) { progress.tell(activity); };
  const auto merged = merge::merge(*files, path, options);
  if (!merged) return fail(merged.error());
  say_merged(*merged);
  say_written(call);
  return kDone;
}

}  // namespace stepscope::cli
