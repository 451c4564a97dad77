// `stepscope try`: the options, told to the Python package.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/conductor.h"
#include "cli/present.h"
#include "cli/record.h"

namespace stepscope::cli {

int run_try(const Call& call) {
  if (call.program.empty() || !call.words.empty())
    return misuse(call, "try needs a program after --: stepscope try -- python train.py");
  for (const char* name : {"steps", "seconds"})
    if (call.params.has(name) && !is_count(call.params.text(name)))
      return misuse(call,
                    fmt::format("--{} {}: give a whole number of 1 or more", name, call.params.text(name)));
  std::vector<std::string> options;
  for (const std::string& finding : call.params.texts("finding")) options.push_back("--finding=" + finding);
  for (const char* name : {"steps", "seconds", "format", "output"})
    if (call.params.has(name)) options.push_back(fmt::format("--{}={}", name, call.params.text(name)));
  for (const char* name : {"all", "end"})
    if (call.params.flag(name)) options.push_back(fmt::format("--{}", name));
  return run_conductor("stepscope.trial", options, call);
}

}  // namespace stepscope::cli
