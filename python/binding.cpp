// The module stepscope._core: open, ask, print. A thin layer; the public interface is python/stepscope.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/ask.h"
#include "python/by_rank.h"
#include "python/describe.h"
#include "python/files.h"
#include "python/recorded.h"
#include "python/state.h"
#include "python/table.h"
#include "read/files.h"
#include "report/formats/csv.h"
#include "report/formats/json.h"
#include "report/html/html.h"
#include "report/text/text.h"
#include "report/utf8.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

void raise_refusal(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Refusal& refusal) {
    const nb::object kind = nb::module_::import_("stepscope._errors").attr(refusal.python_name);
    std::string sentence = report::valid_utf8(refusal.what());
    if (refusal.python_name == std::string_view("UsageError")) sentence = in_python(sentence);
    const nb::object raised = kind(nb::str(sentence.data(), sentence.size()));
    if (!refusal.file.empty()) raised.attr("filename") = path(refusal.file);
    if (refusal.error_number != 0) raised.attr("errno") = refusal.error_number;
    PyErr_SetObject(kind.ptr(), raised.ptr());
  }
}

std::string bytes_of(const nb::bytes& given) { return {given.c_str(), given.size()}; }

std::vector<std::string> paths_of(const std::vector<nb::bytes>& given) {
  std::vector<std::string> paths;
  for (const nb::bytes& path : given) paths.push_back(bytes_of(path));
  return paths;
}

nb::bytes as_bytes(const std::string& raw) { return nb::bytes(raw.data(), raw.size()); }

nb::list all_as_bytes(const std::vector<std::string>& raw) {
  nb::list out;
  for (const std::string& one : raw) out.append(as_bytes(one));
  return out;
}

std::shared_ptr<Trace> open_bytes(const std::vector<nb::bytes>& given, std::int64_t threads, std::int64_t run,
                                  const std::vector<std::int64_t>& ranks) {
  std::vector<std::string> paths = paths_of(given);
  const nb::gil_scoped_release unlocked;
  return open(std::move(paths), threads, run, ranks);
}

/// The page's reports; each keeps the whole page alive.
std::vector<Report> reports_of(const Page& page) {
  std::vector<Report> reports;
  for (const report::Report& report : page.page->reports)
    reports.push_back({std::shared_ptr<const report::Report>(page.page, &report)});
  if (page.page->verdict)
    reports.front().verdict = std::shared_ptr<const report::Verdict>(page.page, &*page.page->verdict);
  return reports;
}

std::vector<std::shared_ptr<Table>> tables_of(const Report& report) {
  std::vector<std::shared_ptr<Table>> tables;
  for (const report::Table& table : report.report->tables)
    tables.push_back(std::make_shared<Table>(std::shared_ptr<const report::Table>(report.report, &table)));
  return tables;
}

nb::tuple merge_bytes(const std::vector<nb::bytes>& given, const nb::bytes& output, bool align, bool all_runs,
                      std::int64_t run, std::int64_t threads) {
  std::vector<std::string> paths = paths_of(given);
  const std::string target = bytes_of(output);
  MergedFiles merged;
  {
    const nb::gil_scoped_release unlocked;
    merged = merge(paths, target, align, all_runs, run, threads);
  }
  return nb::make_tuple(merged.ranks, merged.others, merged.events, texts(merged.notes));
}

nb::tuple gate_of(const std::vector<const Trace*>& base, const std::vector<const Trace*>& now,
                  const Given& given) {
  Decision decision;
  {
    const nb::gil_scoped_release unlocked;
    decision = gate(base, now, given);
  }
  return nb::make_tuple(decision.outcome, report::valid_utf8(decision.headline), decision.report);
}

void bind_files(nb::module_& module, nb::class_<Trace>& trace) {
  trace
      .def("events", events, nb::arg("ranks").none(), nb::arg("steps").none(), nb::arg("kinds").none(),
           nb::arg("name"), nb::arg("args"), Unlocked())
      .def("sql", sql, nb::arg("query").none(), Unlocked())
      .def(
          "export",
          [](const Trace& t, const nb::bytes& path, const std::string& format, const std::string& what) {
            const std::string target = bytes_of(path);
            const nb::gil_scoped_release unlocked;
            return export_to(t, target, format, what);
          },
          nb::arg("path"), nb::arg("format"), nb::arg("what"))
      .def("validate", validate, nb::arg("strict"), Unlocked());
  module.def("explain", explain, nb::arg("trace").none(), nb::arg("id"), nb::arg("params"), Unlocked());
  module.def(
      "refuse_overwriting",
      [](const std::vector<nb::bytes>& files, const nb::bytes& output) {
        refuse(read::overwritten(paths_of(files), bytes_of(output), "the trace itself"));
      },
      nb::arg("files"), nb::arg("output"));
  module.def("rules", rules, nb::sig("def rules() -> list[tuple[str, str]]"));
  module.def("gate", gate_of, nb::arg("base"), nb::arg("now"), nb::arg("params"),
             nb::sig("def gate(base: list[Trace], now: list[Trace], params: list[tuple[str, str]]) -> "
                     "tuple[str, str, Report]"));
  module.def("merge", merge_bytes, nb::arg("paths"), nb::arg("output"), nb::arg("align"), nb::arg("all_runs"),
             nb::arg("run"), nb::arg("threads"),
             nb::sig("def merge(paths: list[bytes], output: bytes, align: bool, all_runs: bool, run: int, "
                     "threads: int) -> "
                     "tuple[int, int, int, list[str]]"));
}

void bind_report(nb::module_& module) {
  nb::class_<Report>(module, "Report")
      .def("state", [](const Report& r) { return as_bytes(state_of(r)); })
      .def_static("restored", [](const nb::bytes& state) { return restored_report(bytes_of(state)); })
      .def_prop_ro("name", [](const Report& r) { return report::valid_utf8(r.report->name); })
      .def_prop_ro("question", [](const Report& r) { return report::valid_utf8(r.report->question); })
      .def_prop_ro("notes", [](const Report& r) { return texts(r.report->notes); })
      .def("tables", tables_of)
      .def(
          "json", [](const Report& r) { return report::to_json(*r.report); }, Unlocked())
      .def(
          "csv", [](const Report& r) { return report::to_csv(*r.report); }, Unlocked())
      .def(
          "html", [](const Report& r) { return report::to_html(*r.report, r.verdict.get(), r.headline); },
          Unlocked())
      .def(
          "fragment", [](const Report& r) { return report::to_html_fragment(*r.report); }, Unlocked())
      .def(
          "text",
          [](const Report& r, int width, std::size_t rows) {
            const report::TextStyle style{.width = width, .max_rows = rows};
            return r.verdict ? report::to_text(*r.verdict, style)
                             : report::to_text(*r.report, style, r.headline);
          },
          nb::arg("width"), nb::arg("rows"), Unlocked());
}

void bind_page(nb::module_& module) {
  nb::class_<Page>(module, "Page")
      .def("state", [](const Page& p) { return as_bytes(state_of(p)); })
      .def_static("restored", [](const nb::bytes& state) { return restored_page(bytes_of(state)); })
      .def_prop_ro("title", [](const Page& p) { return report::valid_utf8(p.page->title); })
      .def("reports", reports_of)
      .def(
          "json", [](const Page& p) { return report::to_json(p.page->reports); }, Unlocked())
      .def(
          "html", [](const Page& p) { return report::to_html(*p.page); }, Unlocked())
      .def(
          "fragment", [](const Page& p) { return report::to_html_fragment(*p.page); }, Unlocked())
      .def(
          "text",
          [](const Page& p, int width, std::size_t rows) {
            return report::to_text(*p.page, {.width = width, .max_rows = rows});
          },
          nb::arg("width"), nb::arg("rows"), Unlocked());
}

}  // namespace
}  // namespace stepscope::python

NB_MODULE(_core, module) {
  using namespace stepscope::python;
  nb::set_leak_warnings(false);  // PyTorch keeps objects alive at exit
  nb::register_exception_translator(raise_refusal);
  module.attr("version") = STEPSCOPE_VERSION;
  module.attr("rows_on_terminal") = stepscope::report::kRowsOnTerminal;
  module.def("analyses", analyses, nb::sig("def analyses() -> list[dict[str, typing.Any]]"));
  module.def("open", open_bytes, nb::arg("paths"), nb::arg("threads"), nb::arg("run"), nb::arg("ranks"));
  nb::class_<Trace> trace(module, "Trace");
  trace
      .def(
          "ranks", [](const Trace& t) { return ranks(t.trace); },
          nb::sig("def ranks(self) -> list[dict[str, typing.Any]]"))
      .def(
          "files", [](const Trace& t) { return all_as_bytes(t.files); },
          nb::sig("def files(self) -> list[bytes]"))
      .def("notes", [](const Trace& t) { return texts(notes_on(t.trace)); })
      .def("damage", [](const Trace& t) { return texts(damage(t.trace)); })
      .def(
          "unused",
          [](const Trace& t, const std::vector<nb::bytes>& given) {
            return unused(t.trace, paths_of(given));
          },
          nb::arg("paths"), nb::sig("def unused(self, paths: list[bytes]) -> list[str]"))
      .def("unread", [](const Trace& t) { return texts(t.trace.unread); })
      .def("doubts", [](const Trace& t) { return texts(in_python(t.trace.doubts)); })
      .def("analyze", nb::overload_cast<const Trace&, const std::string&, const Given&>(analyze),
           nb::arg("name"), nb::arg("params"), Unlocked())
      .def("as_hta", as_hta, nb::arg("form"), nb::arg("params"), Unlocked())
      .def("diff", diff, nb::arg("other"), nb::arg("params"), Unlocked())
      .def(
          "overlay",
          [](const Trace& t, std::size_t rank, const std::vector<std::string>& what, const Given& given,
             const nb::bytes& output) {
            const std::string path(output.c_str(), output.size());
            std::vector<std::string> notes;
            {
              const nb::gil_scoped_release unlocked;
              notes = overlay(t, rank, what, given, path);
            }
            return texts(notes);
          },
          nb::arg("rank"), nb::arg("what"), nb::arg("params"), nb::arg("output"))
      .def("page", nb::overload_cast<const Trace&, const Given&, bool>(page), nb::arg("params"),
           nb::arg("everything"), Unlocked())
      .def("report_file",
           nb::overload_cast<const Trace&, const Given&, const std::string&, const std::string&>(report_file),
           nb::arg("params"), nb::arg("max_size"), nb::arg("redact"), Unlocked());
  module.def(
      "open_by_rank",
      [](const std::vector<nb::bytes>& given, std::int64_t threads, std::int64_t run) {
        std::vector<std::string> paths = paths_of(given);
        const nb::gil_scoped_release unlocked;
        return open_by_rank(std::move(paths), threads, run);
      },
      nb::arg("paths"), nb::arg("threads"), nb::arg("run"));
  nb::class_<RankFolder>(module, "RankFolder")
      .def(
          "ranks", [](const RankFolder& f) { return ranks(f.heads()); },
          nb::sig("def ranks(self) -> list[dict[str, typing.Any]]"))
      .def(
          "files", [](const RankFolder& f) { return all_as_bytes(f.inputs); },
          nb::sig("def files(self) -> list[bytes]"))
      .def("notes", [](const RankFolder& f) { return texts(notes_on(f.heads())); })
      .def("damage", [](const RankFolder& f) { return texts(damage(f.heads())); })
      .def(
          "unused",
          [](const RankFolder& f, const std::vector<nb::bytes>& given) {
            return unused(f.heads(), paths_of(given));
          },
          nb::arg("paths"), nb::sig("def unused(self, paths: list[bytes]) -> list[str]"))
      .def("unread", [](const RankFolder& f) { return texts(f.heads().unread); })
      .def("doubts", [](const RankFolder& f) { return texts(in_python(f.heads().doubts)); })
      .def("analyze", nb::overload_cast<const RankFolder&, const std::string&, const Given&>(analyze),
           nb::arg("name"), nb::arg("params"), Unlocked())
      .def("page", nb::overload_cast<const RankFolder&, const Given&, bool>(page), nb::arg("params"),
           nb::arg("everything"), Unlocked())
      .def("report_file",
           nb::overload_cast<const RankFolder&, const Given&, const std::string&, const std::string&>(
               report_file),
           nb::arg("params"), nb::arg("max_size"), nb::arg("redact"), Unlocked());
  bind_files(module, trace);
  bind_report(module);
  bind_page(module);
  bind_table(module);
  bind_recorded(module);
}
