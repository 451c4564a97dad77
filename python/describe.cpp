#include "python/describe.h"

#include <string_view>

#include "advise/analyses.h"
#include "analyze/analyses.h"
#include "report/params.h"
#include "report/utf8.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

nb::str text(std::string_view raw) {
  const std::string valid = report::valid_utf8(raw);
  return nb::str(valid.data(), valid.size());
}

/// Like os.fsdecode: a path may contain any bytes.
nb::object path(const std::string& raw) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(raw.data(), static_cast<Py_ssize_t>(raw.size())));
}

nb::object unless_negative(std::int64_t number) {
  return number < 0 ? nb::none() : nb::object(nb::int_(number));
}

nb::str name_of(report::ParamSpec::Type type) {
  constexpr const char* kNames[] = {"flag", "integer", "percentage", "text", "texts", "choice", "steps"};
  return nb::str(kNames[static_cast<std::size_t>(type)]);
}

nb::dict param(const report::ParamSpec& spec) {
  nb::dict out;
  out["name"] = text(spec.name);
  out["type"] = name_of(spec.type);
  out["default"] = text(spec.fallback);
  out["choices"] = text(spec.choices);
  out["help"] = text(spec.help);
  return out;
}

nb::dict device(const trace::Device& device) {
  nb::dict out;
  out["id"] = device.id;
  out["name"] = text(device.name);
  out["total_memory"] = device.total_memory;
  return out;
}

nb::dict rank_of(const trace::Rank& rank) {
  nb::dict out;
  nb::list steps, devices;
  for (const trace::Step& step : rank.steps)
    if (step.row != trace::kNoRow) steps.append(step.number);
  for (const trace::Device& of_rank : rank.devices) devices.append(device(of_rank));
  out["rank"] = unless_negative(rank.rank);
  out["world_size"] = unless_negative(rank.world_size);
  out["path"] = path(rank.path);
  out["backend"] = text(rank.backend);
  out["steps"] = steps;
  out["devices"] = devices;
  out["events"] = static_cast<std::int64_t>(rank.events.size());
  out["complete"] = rank.reading.complete && rank.reading.losses == 0;
  return out;
}

}  // namespace

std::vector<std::string> texts(const std::vector<std::string>& raw) {
  std::vector<std::string> valid;
  for (const std::string& one : raw) valid.push_back(report::valid_utf8(one));
  return valid;
}

nb::list analyses() {
  nb::list all;
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    nb::dict out;
    nb::list params;
    for (const report::ParamSpec& spec : analysis.params) params.append(param(spec));
    for (const report::ParamSpec& spec : report::common_params()) params.append(param(spec));
    out["name"] = text(analysis.name);
    out["one_line"] = text(analysis.one_line);
    out["doc"] = text(analysis.doc);
    out["params"] = params;
    all.append(out);
  }
  return all;
}

nb::list ranks(const Trace& trace) {
  nb::list all;
  for (const trace::Rank& rank : trace.trace.ranks) all.append(rank_of(rank));
  return all;
}

}  // namespace stepscope::python
