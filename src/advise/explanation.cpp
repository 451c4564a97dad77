// An explanation as tables.
#include "advise/explain.h"
#include "advise/rules/constants.h"

namespace stepscope::advise {
namespace {

using report::Role;
using report::Shape;
using report::Table;
using report::Unit;

Table rule_table(const ExplainedId& id, const Entry& entry) {
  Table table{"Rule", Shape::table, {}};
  table.texts("id") = {std::string(name_of(id))};
  table.texts("category", Role::value) = {std::string(entry.category)};
  table.texts("one_line", Role::value) = {std::string(entry.one_line)};
  table.texts("doc", Role::detail) = {std::string(entry.doc)};
  return table;
}

Table constants_table(const Entry& entry) {
  Table table{"Constants", Shape::table, {}};
  auto& name = table.texts("name");
  auto& value = table.reals("value", Unit::none);
  auto& meaning = table.texts("meaning", Role::value);
  auto& source = table.texts("source", Role::detail);
  for (const Constant& constant : kConstants) {
    if (entry.doc.find(constant.name) == std::string_view::npos) continue;
    name.emplace_back(constant.name);
    value.push_back(constant.value);
    meaning.emplace_back(constant.meaning);
    source.emplace_back(constant.source);
  }
  return table;
}

/// A column `rank` when there are several.
class RankColumn {
 public:
  RankColumn(Table& table, bool several)
      : values_(several ? &table.ints("rank", Unit::none, Role::key) : nullptr) {}
  void add(const Explained& e) {
    if (values_ != nullptr) values_->push_back(e.rank);
  }

 private:
  report::Ints* values_;
};

Table outcome_table(const std::vector<Explained>& explained) {
  Table table{"Outcome", Shape::table, {}};
  RankColumn rank(table, explained.size() > 1);
  auto& outcome = table.texts("outcome", Role::value);
  auto& sentence = table.texts("sentence", Role::value);
  for (const Explained& e : explained) {
    rank.add(e);
    outcome.push_back(e.outcome);
    sentence.push_back(e.sentence);
  }
  return table;
}

Table asked_table(const char* title, const char* what, const std::vector<Explained>& explained,
                  std::vector<Asked> Explained::* rows, bool sourced) {
  Table table{title, Shape::table, {}};
  RankColumn rank(table, explained.size() > 1);
  auto& name = table.texts(what);
  auto& value = table.texts("value", Role::value);
  report::Texts* from = sourced ? &table.texts("from", Role::value) : nullptr;
  auto& number = table.reals("number", Unit::none, Role::detail);
  auto& unit = table.texts("unit", Role::detail);
  for (const Explained& e : explained) {
    for (const Asked& asked : e.*rows) {
      rank.add(e);
      name.push_back(asked.what);
      value.push_back(asked.value);
      if (from != nullptr) from->push_back(asked.from);
      number.push_back(asked.number);
      unit.emplace_back(name_of(asked.unit));
    }
  }
  return table;
}

Table confidence_table(const std::vector<Explained>& explained) {
  Table table{"Confidence", Shape::table, {}};
  RankColumn rank(table, explained.size() > 1);
  auto& confidence = table.texts("confidence", Role::value);
  auto& because = table.texts("because", Role::value);
  for (const Explained& e : explained) {
    for (const std::string& reason : e.because) {
      rank.add(e);
      confidence.push_back(e.confidence);
      because.push_back(reason);
    }
  }
  return table;
}

}  // namespace

report::Report explanation(const ExplainedId& id, const std::vector<Explained>& explained) {
  const Entry entry = entry_of(id);
  report::Report report{"explain", {rule_table(id, entry), constants_table(entry)}, {}};
  if (explained.empty()) return report;
  report.tables.push_back(outcome_table(explained));
  report.tables.push_back(asked_table("Inputs", "asked", explained, &Explained::inputs, true));
  report.tables.push_back(asked_table("Numbers", "number_of", explained, &Explained::numbers, false));
  report.tables.push_back(confidence_table(explained));
  return report;
}

}  // namespace stepscope::advise
