#include "merge/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "read/files.h"
#include "report/units.h"
#include "write/output.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

enum class Format : std::uint8_t { none, json, json_gz, perfetto };

Format format_of_path(const std::string& path) {
  return path.ends_with(".json.gz")                                        ? Format::json_gz
         : path.ends_with(".json")                                         ? Format::json
         : path.ends_with(".pftrace") || path.ends_with(".perfetto-trace") ? Format::perfetto
                                                                           : Format::none;
}

/// The files given as words and with --inputs.
std::vector<std::string> inputs_of(const Call& call) {
  std::vector<std::string> inputs = call.params.texts("inputs");
  inputs.insert(inputs.end(), call.words.begin(), call.words.end());
  return inputs;
}

/// The error if these files cannot be merged into `output`, else "".
std::string clash(const std::vector<std::string>& files, const std::string& output) {
  std::error_code error;
  for (const std::string& file : files) {
    if (file == "-") return "merge reads its files twice, which standard input does not allow; name a file";
    if (fs::equivalent(file, output, error))
      return output + ": is one of the files to merge and would be overwritten; choose another place with -o";
  }
  const std::string twice = read::given_twice(files);
  return twice.empty() ? "" : twice + ": is given twice; each recording can be merged once";
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
  const Format format = format_of_path(path);
  if (format == Format::none)
    return misuse(call,
                  fmt::format("-o {}: merge writes files that end in .json.gz, .json or .pftrace", path));
  auto files = read::files_of(inputs, read::kMergeable);
  if (!files) return fail(files.error());
  if (const std::string why = clash(*files, path); !why.empty()) return misuse(call, why);
  Progress progress(shows_progress(call));
  merge::MergeOptions options;
  options.threads = static_cast<unsigned>(std::min<std::int64_t>(call.params.integer("threads"), 1024));
  options.align = !call.params.has("no-align");
  options.progress = [&](std::int64_t done, std::int64_t total) { progress.tell(done, total); };
  options.activity = [&](const std::string& activity) { progress.tell(activity); };
  auto merged = merge::survey(*files, options);
  if (!merged) return fail(merged.error());
  auto output = write::Output::open(path);
  if (!output) return fail(output.error());
  const auto put = [&](std::string_view bytes) { return output->write(bytes); };
  auto error = format == Format::perfetto
                   ? merge::write_perfetto(*merged, options, put)
                   : merge::write_chrome(*merged, options, format == Format::json_gz, put);
  if (!error) error = output->finish();
  if (error) return fail(*error);
  say_merged(*merged);
  say_written(call);
  return kDone;
}

}  // namespace stepscope::cli
