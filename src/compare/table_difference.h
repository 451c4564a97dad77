// Report − Report, for any analysis: rows are joined by their key columns, numbers compared. Written once,
// since keys and units are in the tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/change.h"
#include "report/table.h"

namespace stepscope::compare {

/// What one analysis says of several steps of a recording, one sample per step.
class TableSamples {
 public:
  /// Adds what it says of one more step.
  void add(const report::Table& table);

  struct Row {
    std::vector<std::string> keys;            ///< for people
    std::int64_t depth = 0;                   ///< of a tree
    std::vector<std::vector<double>> values;  ///< by compared column, the steps that have one
  };
  const report::Table& shape() const { return shape_; }
  const std::map<std::string, Row>& rows() const { return rows_; }  ///< by all keys, of a tree the path

 private:
  report::Table shape_;  ///< title and columns, without rows
  std::map<std::string, Row> rows_;
};

/// Whether rows of the table are the same thing in another recording: it has keys, and none of them is a
/// time, an event or a step.
bool joins(const report::Table& table);

/// The columns that are compared: numbers that are no keys and no details, the first time in front.
std::vector<const report::Column*> compared_columns(const report::Table& table);

/// Key columns, then of the first compared column both sides, the change and its state, then of every other
/// one both sides and the change. The largest change of the first column comes first. `step`: ns.
report::Table difference(const TableSamples& a, const TableSamples& b, std::size_t steps_a,
                         std::size_t steps_b, double step);

}  // namespace stepscope::compare
