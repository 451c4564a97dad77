// `stepscope tune`: the options, told to the Python package.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/conductor.h"
#include "cli/present.h"
#include "cli/record.h"

namespace stepscope::cli {
namespace {

/// Whether the text is whole numbers with commas between them.
bool are_counts(std::string_view text) {
  const auto is_letter = [](char one) { return one == ',' || (one >= '0' && one <= '9'); };
  return std::ranges::all_of(text, is_letter) && !text.empty() && !text.starts_with(',') &&
         !text.ends_with(',') && text.find(",,") == std::string_view::npos;
}

}  // namespace

int run_tune(const Call& call) {
  if (call.program.empty() || !call.words.empty())
    return misuse(call, "tune needs a program after --: stepscope tune -- python train.py");
  for (const char* name : {"steps", "seconds", "total"})
    if (call.params.has(name) && !is_count(call.params.text(name)))
      return misuse(call,
                    fmt::format("--{} {}: give a whole number of 1 or more", name, call.params.text(name)));
  if (call.params.has("workers") && !are_counts(call.params.text("workers")))
    return misuse(call, fmt::format("--workers {}: give numbers, e.g. 0,2,4", call.params.text("workers")));
  std::vector<std::string> options;
  for (const char* name : {"steps", "seconds", "total", "workers", "format", "output"})
    if (call.params.has(name)) options.push_back(fmt::format("--{}={}", name, call.params.text(name)));
  if (call.params.flag("drop-last")) options.emplace_back("--drop-last");
  return run_conductor("stepscope.tune", options, call);
}

}  // namespace stepscope::cli
