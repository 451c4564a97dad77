// Report − Report, for any analysis: rows are joined by their key columns and numbers compared. One function
// for all, since keys and units are in the tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/change.h"
#include "report/table.h"

namespace stepscope::compare {

/// One table of an analysis for several steps of a recording, one sample per step.
class TableSamples {
 public:
  /// Adds the table for one more step. It must be alike() the others.
  void add(const report::Table& table);

  struct Row {
    std::vector<std::string> keys;            ///< for people
    std::int64_t depth = 0;                   ///< of a tree
    std::vector<std::vector<double>> values;  ///< by compared column, one per step that has a value
  };
  const report::Table& shape() const { return shape_; }
  const std::map<std::string, Row>& rows() const { return rows_; }  ///< by all keys; in a tree by their path

 private:
  report::Table shape_;  ///< title and columns, without rows
  std::map<std::string, Row> rows_;
};

/// Whether rows can be joined with those of another recording: the table has keys, and no key is a time, an
/// event or a step.
bool joins(const report::Table& table);

/// Whether rows of both are joined: the tables have one title, the same keys and the same first compared
/// column. Their other columns may differ.
bool alike(const report::Table& a, const report::Table& b);

/// The columns to compare: numbers that are neither keys nor details, the first time column in front.
std::vector<const report::Column*> compared_columns(const report::Table& table);

/// Columns: the keys; both sides, the change and its state for the first compared column; both sides and the
/// change for each other one, if both recordings have it. Rows whose places are only other lines, or in
/// another folder, are joined too, in the order of the lines, if both sides have as many of them; else those
/// of equal lines. Rows are sorted by the change of the first compared column, largest first. `step`: ns.
report::Table difference(const TableSamples& a, const TableSamples& b, std::size_t steps_a,
                         std::size_t steps_b, double step);

}  // namespace stepscope::compare
