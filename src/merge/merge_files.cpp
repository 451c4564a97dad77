#include "base/kept_pipes.h"
#include "merge/merge.h"
#include "read/files.h"
#include "write/output.h"

namespace stepscope::merge {
namespace {

enum class Format : std::uint8_t { none, json, json_gz, perfetto };

Format format_of_path(const std::string& path) {
  return path.ends_with(".json.gz")                                        ? Format::json_gz
         : path.ends_with(".json")                                         ? Format::json
         : path.ends_with(".pftrace") || path.ends_with(".perfetto-trace") ? Format::perfetto
                                                                           : Format::none;
}

}  // namespace

std::string ending_refused(const std::string& output) {
  if (format_of_path(output) != Format::none) return "";
  return output + ": merge writes files that end in .json.gz, .json or .pftrace";
}

std::string refused(const std::vector<std::string>& files, const std::string& output) {
  if (std::string taken = read::overwritten(files, output, "one of the files to merge"); !taken.empty())
    return taken;
  const std::string twice = read::given_twice(files);
  return twice.empty() ? "" : twice + ": is given twice; each recording can be merged once";
}

Result<Merged> merge(const std::vector<std::string>& files, const std::string& output,
                     const MergeOptions& options) {
  const KeepPipes keep;
  auto merged = survey(files, options);
  if (!merged) return merged;
  auto file = write::Output::open(output);
  if (!file) return file.error();
  const auto put = [&](std::string_view bytes) { return file->write(bytes); };
  const Format format = format_of_path(output);
  auto error = format == Format::perfetto ? write_perfetto(*merged, options, put)
                                          : write_chrome(*merged, options, format == Format::json_gz, put);
  if (!error) error = file->finish();
  if (error) return *error;
  return merged;
}

}  // namespace stepscope::merge
