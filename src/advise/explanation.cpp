// An explanation as tables.
#include <fmt/format.h>

#include "advise/explain.h"
#include "report/sheet.h"

namespace stepscope::advise {
namespace {

using report::Field;
using report::Role;
using report::Shape;
using report::Sheet;
using report::Table;
using report::Unit;

Table rule_table(const Entry& entry) {
  static const Sheet<Entry> kSheet{"Rule",
                                   Shape::table,
                                   {{"id", +[](const Entry& e) { return std::string(name_of(e.id)); }},
                                    {"category", &Entry::category, Role::value},
                                    {"one_line", &Entry::one_line, Role::value},
                                    {"doc", &Entry::doc, Role::detail}}};
  return tabulate(kSheet, {entry}, false);
}

Table constants_table(const Entry& entry, bool for_people) {
  using C = Constant;
  // Constants have different units. For people, each is printed with its own digits.
  const Field<C> value =
      for_people ? Field<C>{"value", +[](const C& c) { return fmt::format("{}", c.value); }, Role::value}
                 : Field<C>{"value", &C::value, Unit::none};
  const Sheet<C> sheet{"Constants",
                       Shape::table,
                       {{"name", &C::name},
                        value,
                        {"meaning", &C::meaning, Role::value},
                        {"source", &C::source, Role::detail}}};
  return tabulate(sheet, entry.constants, false);
}

Table outcome_table(const std::vector<Explained>& explained) {
  using E = Explained;
  static const Sheet<E> kSheet{"Outcome",
                               Shape::table,
                               {report::rank_field<E>(&E::rank),
                                {"outcome", &E::outcome, Role::value},
                                {"sentence", &E::sentence, Role::value}}};
  return tabulate(kSheet, explained, explained.size() > 1);
}

struct AskedOf : Asked {
  std::int64_t rank;
};
std::string unit_of(const AskedOf& asked) { return std::string(name_of(asked.unit)); }

Table asked_table(std::string_view title, const Field<AskedOf>& what, const std::vector<Explained>& explained,
                  std::vector<Asked> Explained::* rows, const std::vector<Field<AskedOf>>& more) {
  using A = AskedOf;
  Sheet<A> sheet{
      title, Shape::table, {report::rank_field<A>(&A::rank), what, {"value", &A::value, Role::value}}};
  sheet.fields.insert(sheet.fields.end(), more.begin(), more.end());
  std::vector<A> all;
  for (const Explained& e : explained)
    for (const Asked& asked : e.*rows) all.push_back({asked, e.rank});
  return tabulate(sheet, all, explained.size() > 1);
}

/// Tables "Inputs" and "Numbers". `more`: further fields, for programs.
std::vector<Table> asked_tables(const std::vector<Explained>& explained, std::vector<Field<AskedOf>> more) {
  const Table numbers =
      asked_table("Numbers", {"number_of", &AskedOf::what}, explained, &Explained::numbers, more);
  more.insert(more.begin(), {"from", &AskedOf::from, Role::value});
  return {asked_table("Inputs", {"asked", &AskedOf::what}, explained, &Explained::inputs, more), numbers};
}

Table confidence_table(const std::vector<Explained>& explained) {
  struct Reason {
    std::int64_t rank;
    std::string_view confidence, because;
  };
  static const Sheet<Reason> kSheet{"Confidence",
                                    Shape::table,
                                    {report::rank_field<Reason>(&Reason::rank),
                                     {"confidence", &Reason::confidence, Role::value},
                                     {"because", &Reason::because, Role::value}}};
  std::vector<Reason> reasons;
  for (const Explained& e : explained)
    for (const std::string& reason : e.because) reasons.push_back({e.rank, e.confidence, reason});
  return tabulate(kSheet, reasons, explained.size() > 1);
}

}  // namespace

report::Report explanation(const Entry& entry, const std::vector<Explained>& explained) {
  report::Report report{"explain", {rule_table(entry), constants_table(entry, false)}, {}};
  if (explained.empty()) return report;
  report.tables.push_back(outcome_table(explained));
  for (Table& table : asked_tables(explained, {{"number", &AskedOf::number, Unit::none, Role::detail},
                                               {"unit", &unit_of, Role::detail}}))
    report.tables.push_back(std::move(table));
  report.tables.push_back(confidence_table(explained));
  return report;
}

report::Report numbers_for_people(const Entry& entry, const std::vector<Explained>& explained) {
  report::Report report{"explain", asked_tables(explained, {}), {}};
  report.tables.push_back(constants_table(entry, true));
  std::erase_if(report.tables, [](const Table& table) { return table.rows() == 0; });
  return report;
}

}  // namespace stepscope::advise
