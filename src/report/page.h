// Several reports to be read as one: what `stepscope report` shows. A printer knows three tables by their
// title:
//   "Verdict"   one row per rank; its column `headline` is the sentence a reader sees first
//   "Findings"  one row per finding (rank, of_rank, title, saving_low, saving_high, confidence, because,
//   evidence,
//               remedy, verify); printed as cards
//   "Health"    one row per thing that is missing or doubtful in the recording (of_rank, what, suffers,
//   remedy);
//               printed as warnings
// (report/judgement.h reads the last two.) Every other table is printed by its shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

struct Page {
  std::string title;  ///< what was read, e.g. "trace.json.gz · rank 0 · 6 steps"
  std::vector<Report> reports;
  std::vector<std::string> next;  ///< commands worth trying next
};

/// The text or formatted number of a row, "" when there is no such column or value.
std::string field(const Table& table, std::string_view column, std::size_t row);

/// What a row of "Verdict" says beside its sentence: "6 steps of 178 ms".
std::vector<std::string> facts_of(const Table& verdict, std::size_t row);

/// Parts of one whole, e.g. where the time of a step goes.
struct Part {
  std::string name;
  double share = 0;    ///< of the whole, 0 … 1
  std::string amount;  ///< for people
};

/// How the rows or columns of a table divide a whole; empty when they do not. A table of shape `bars` with a
/// text key and one share column gives its rows, in order, if there are at most 12 and they add up to 1 (2 %
/// apart).
std::vector<Part> parts_of(const Table& table);

/// One bar per row: the columns that divide it.
struct Stack {
  std::vector<const Column*> keys;  ///< name a row's bar, e.g. rank and step
  const Column* whole = nullptr;    ///< length of a row's bar, nullptr: the parts' sum
  std::vector<const Column*> parts;
};

/// The stack in a table of shape `bars`: at least two columns with role share, or else at least two value
/// columns in ns that are named like kinds of work ("kernel", "communication", …). nullopt otherwise.
std::optional<Stack> stack_of(const Table& table);

/// Whether each row is a rank.
bool compares_ranks(const Stack& stack);

/// The length of part `index` in `row`, in the unit of the stack; 0 when absent or negative.
double part_length(const Stack& stack, std::size_t index, std::size_t row);
/// "rank 0 · step 7", "step 7", "forward".
std::string label_of(const Stack& stack, std::size_t row);
/// The length of the whole bar: at least the parts' sum.
double bar_length(const Stack& stack, std::size_t row);

/// What a page shows where, top to bottom.
enum class Place : std::uint8_t { verdict, whole, findings, health, rest };
Place place_of(const Table& table);
/// Whether a report is of the judgement: verdict, findings, health.
bool judges(const Report& report);

/// The tables of a page in the order to be read, and its notes without repetition.
std::vector<const Table*> in_order(const Page& page);
std::vector<std::string> notes_of(const Page& page);

}  // namespace stepscope::report
