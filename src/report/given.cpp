#include "report/given.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/suggest.h"

namespace stepscope::report {

std::string store(const ParamSpec& spec, std::string value, Params& params) {
  std::string name(spec.name);
  std::string reason = misfit(spec, value);
  if (!reason.empty()) return reason;
  if (spec.type == ParamSpec::Type::texts && params.has(name))
    value = fmt::format("{};{}", params.text(name), value);
  else if (params.has(name))
    return fmt::format("--{} is given twice", name);
  params.set(std::move(name), std::move(value));
  return "";
}

std::string no_such_option(std::string_view typed, const std::vector<std::string>& known) {
  return fmt::format("'{}' is not an option here.{}", typed, did_you_mean(typed, known));
}

Result<Params> params_of(const Given& given, std::span<const ParamSpec> specs) {
  Params params;
  for (const auto& [name, value] : given) {
    const auto spec = std::ranges::find(specs, std::string_view(name), &ParamSpec::name);
    if (spec == specs.end()) {
      std::vector<std::string> known;
      for (const ParamSpec& other : specs) known.push_back(fmt::format("--{}", other.name));
      return Error{no_such_option("--" + name, known), ""};
    }
    if (std::string reason = store(*spec, value, params); !reason.empty())
      return Error{std::move(reason), ""};
  }
  return params;
}

}  // namespace stepscope::report
