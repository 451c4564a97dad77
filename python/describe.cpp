#include "python/describe.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "advise/analyses.h"
#include "advise/explain.h"
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
  out["help"] = text(in_python(spec.help));
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
  // A rank without its events, as it is while ranks are read one by one, says how many were read.
  out["events"] =
      rank.events.size() > 0 ? static_cast<std::int64_t>(rank.events.size()) : rank.reading.events;
  out["complete"] = rank.reading.complete && rank.reading.losses == 0;
  return out;
}

}  // namespace

std::string in_python(std::string_view sentence) {
  std::string out;
  for (std::size_t at = 0; at < sentence.size();) {
    const bool begins = at == 0 || std::string_view(" '(").find(sentence[at - 1]) != std::string_view::npos;
    if (!begins || sentence.compare(at, 2, "--") != 0) {
      out += sentence[at++];
      continue;
    }
    for (at += 2; at < sentence.size() &&
                  (std::isalnum(static_cast<unsigned char>(sentence[at])) != 0 || sentence[at] == '-');
         ++at)
      out += sentence[at] == '-' ? '_' : sentence[at];
    const std::string_view rest = sentence.substr(at);
    if (rest.starts_with(" N") &&
        (rest.size() == 2 || std::isalnum(static_cast<unsigned char>(rest[2])) == 0)) {
      out += '=';
      ++at;
    }
  }
  return out;
}

std::vector<std::string> in_python(const std::vector<std::string>& sentences) {
  std::vector<std::string> out;
  for (const std::string& one : sentences) out.push_back(in_python(std::string_view(one)));
  return out;
}

std::vector<std::string> notes_on(const trace::Trace& trace) {
  std::vector<std::string> notes = in_python(trace.notes);
  std::ranges::move(damage(trace), std::back_inserter(notes));
  return notes;
}

std::vector<std::string> damage(const trace::Trace& trace) {
  std::vector<std::string> out;
  for (const trace::Rank& rank : trace.ranks) {
    const trace::Reading& reading = rank.reading;
    if (reading.complete && reading.losses == 0) continue;
    std::string where;
    if (!reading.first_losses.empty()) where = " (" + reading.first_losses.front().text() + ")";
    out.push_back(rank.path +
                  (reading.complete ? ": parts of the file are damaged" : ": the file ends early") + where +
                  ". Answers cover only what could be read.");
  }
  return out;
}

nb::object path(const std::string& raw) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(raw.data(), static_cast<Py_ssize_t>(raw.size())));
}

nb::list rules() {
  nb::list out;
  for (const advise::ExplainedId& id : advise::explainable_ids())
    out.append(nb::make_tuple(text(advise::name_of(id)), text(advise::entry_of(id).one_line)));
  return out;
}

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

nb::list unused(const trace::Trace& trace, const std::vector<std::string>& paths) {
  nb::list out;
  std::error_code unknown;
  for (const std::string& given : paths) {
    // A merged file holds its ranks as if it were their folder.
    const auto holds = [&](const auto& of) { return of.path == given || of.path.starts_with(given + "/"); };
    const auto names = [&](const std::string& reason) {
      return reason.starts_with(given + ": ") || reason.starts_with(given + ", at byte ");
    };
    const bool known = std::ranges::any_of(trace.ranks, holds) ||
                       std::ranges::any_of(trace.companions, holds) ||
                       std::ranges::any_of(trace.unread, names);
    if (!known && given != "-" && !std::filesystem::is_directory(given, unknown)) out.append(path(given));
  }
  return out;
}

nb::list ranks(const trace::Trace& trace) {
  nb::list all;
  for (const trace::Rank& rank : trace.ranks) all.append(rank_of(rank));
  return all;
}

}  // namespace stepscope::python
