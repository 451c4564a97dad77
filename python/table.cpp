#include "python/table.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "python/state.h"
#include "report/formats/csv.h"
#include "report/html/html.h"
#include "report/text/text.h"
#include "report/utf8.h"

namespace nb = nanobind;

namespace stepscope::python {
namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;
using report::Column;

/// A PyCapsule that owns a `Struct`; `name` is as in Arrow's PyCapsule interface.
template <class Struct, class Fill>
nb::object capsule(const char* name, Fill fill) {
  auto owned = std::make_unique<Struct>();
  fill(owned.get());
  const auto destroy = [](PyObject* object) {
    auto* held = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  };
  PyObject* made = PyCapsule_New(owned.get(), name, destroy);
  if (made == nullptr) {
    owned->release(owned.get());
    throw nb::python_error();
  }
  owned.release();
  return nb::steal(made);
}

/// Built on first use, as it collects the texts of all rows.
const report::ArrowTable& arrow_of(const Table& table) {
  const nb::gil_scoped_release unlocked;
  return table.arrow();
}

nb::object schema(const Table& table) {
  return capsule<ArrowSchema>("arrow_schema", [&](ArrowSchema* out) { arrow_of(table).schema_to(out); });
}

nb::object array(const Table& table) {
  return capsule<ArrowArray>("arrow_array", [&](ArrowArray* out) { arrow_of(table).array_to(out); });
}

nb::object stream(const Table& table) {
  return capsule<ArrowArrayStream>("arrow_array_stream",
                                   [&](ArrowArrayStream* out) { arrow_of(table).stream_to(out); });
}

const Column& column_at(const Table& table, std::size_t index) {
  if (index >= table.table().columns.size()) throw nb::index_error("there is no such column");
  return table.table().columns[index];
}

/// Of a column of numbers.
nb::object cell(const Column& column, std::size_t row) {
  if (column.missing(row)) return nb::none();
  if (const auto* ints = std::get_if<report::Ints>(&column.values)) return nb::int_((*ints)[row]);
  return nb::float_(std::get<report::Reals>(column.values)[row]);
}

/// One str per distinct text: making a str costs more than looking one up.
nb::list texts_of(const report::Texts& values) {
  std::unordered_map<std::string_view, nb::object> made;
  nb::list out;
  for (const std::string& value : values) {
    if (value.empty()) {
      out.append(nb::none());
      continue;
    }
    const auto [place, added] = made.try_emplace(value);
    if (added) {
      const std::string text = report::valid_utf8(value);
      place->second = nb::str(text.data(), text.size());
    }
    out.append(place->second);
  }
  return out;
}

nb::list list_of(const Table& table, std::size_t index) {
  const Column& column = column_at(table, index);
  if (const auto* values = std::get_if<report::Texts>(&column.values)) return texts_of(*values);
  nb::list out;
  for (std::size_t row = 0; row < column.size(); ++row) out.append(cell(column, row));
  return out;
}

template <class Number>
nb::object view(const std::vector<Number>& numbers, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(numbers.data(), {numbers.size()}, owner));
}

/// A read-only array over the column's memory, with missing values as stored; None for a column of texts.
nb::object numbers_of(nb::handle_t<Table> self, std::size_t index) {
  const Column& column = column_at(nb::cast<const Table&>(self), index);
  if (const auto* ints = std::get_if<report::Ints>(&column.values)) return view(*ints, self);
  if (const auto* reals = std::get_if<report::Reals>(&column.values)) return view(*reals, self);
  return nb::none();
}

/// (name, unit, role, type) of each column.
nb::list columns_of(const Table& table) {
  constexpr const char* kTypes[] = {"int64", "float64", "text"};
  nb::list out;
  for (const Column& c : table.table().columns)
    out.append(nb::make_tuple(report::valid_utf8(c.name), std::string(name_of(c.unit)),
                              std::string(name_of(c.role)), kTypes[c.values.index()]));
  return out;
}

std::shared_ptr<Table> owned(report::Table table) {
  return std::make_shared<Table>(std::make_shared<const report::Table>(std::move(table)));
}

report::Table rows_of(const Table& table, const std::vector<std::size_t>& rows) {
  report::Table out = table.table();
  out.shape = report::Shape::table;  // not every choice of a tree's rows is a tree
  for (report::Column& column : out.columns)
    std::visit(
        [&](auto& values) {
          std::remove_cvref_t<decltype(values)> chosen;
          chosen.reserve(rows.size());
          for (const std::size_t row : rows) chosen.push_back(values.at(row));
          values = std::move(chosen);
        },
        column.values);
  return out;
}

report::Table select(const Table& table, const std::vector<std::size_t>& columns) {
  report::Table out{table.table().title, report::Shape::table, {}};
  for (const std::size_t column : columns) out.columns.push_back(column_at(table, column));
  return out;
}

}  // namespace

void bind_table(nb::module_& module) {
  module.attr("missing_int") = report::kNoInt;
  nb::class_<Table>(module, "Table")
      .def_prop_ro("title", [](const Table& t) { return report::valid_utf8(t.table().title); })
      .def_prop_ro("shape", [](const Table& t) { return std::string(name_of(t.table().shape)); })
      .def("__len__", [](const Table& t) { return t.table().rows(); })
      .def("columns", columns_of, nb::sig("def columns(self) -> list[tuple[str, str, str, str]]"))
      .def("list", list_of, nb::arg("column"),
           nb::sig("def list(self, column: int) -> typing.List[typing.Any]"))
      .def("numbers", numbers_of, nb::arg("column"), nb::sig("def numbers(self, column: int) -> typing.Any"))
      .def(
          "head",
          [](const Table& t, std::size_t rows) {
            report::Table first = t.table();
            if (rows == 0)
              for (Column& c : first.columns) std::visit([](auto& values) { values.clear(); }, c.values);
            report::cut(first, rows);
            return owned(std::move(first));
          },
          nb::arg("rows"), Unlocked())
      .def(
          "rows",
          [](const Table& t, const std::vector<std::size_t>& rows) { return owned(rows_of(t, rows)); },
          nb::arg("rows"), Unlocked())
      .def(
          "select",
          [](const Table& t, const std::vector<std::size_t>& columns) { return owned(select(t, columns)); },
          nb::arg("columns"), Unlocked())
      .def("state",
           [](const Table& t) {
             const std::string state = state_of(t);
             return nb::bytes(state.data(), state.size());
           })
      .def_static("restored",
                  [](const nb::bytes& state) { return restored_table({state.c_str(), state.size()}); })
      .def("schema", schema)
      .def("array", array)
      .def("stream", stream)
      .def(
          "csv", [](const Table& t) { return report::to_csv(t.table()); }, Unlocked())
      .def(
          "fragment", [](const Table& t) { return report::to_html_fragment(t.alone()); }, Unlocked())
      .def(
          "text",
          [](const Table& t, int width, std::size_t rows) {
            return report::to_text(t.alone(), {.width = width, .max_rows = rows});
          },
          nb::arg("width"), nb::arg("rows"), Unlocked());
}

}  // namespace stepscope::python
