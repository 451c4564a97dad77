// Several reports on one page, as `stepscope report` shows them. Printers for people take the verdict from
// its structs and every other table by its shape; JSON and CSV print the reports as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"
#include "report/verdict.h"

namespace stepscope::report {

struct Page {
  std::string title;  ///< what was read, e.g. "trace.json.gz · rank 0 · 6 steps"
  std::vector<Report> reports;
  std::vector<std::string> next;        ///< commands worth trying next
  std::optional<Verdict> verdict = {};  ///< the first report holds its tables
  std::string headline = {};            ///< of a comparison; also the first table of the first report
};

/// The reports without that of the verdict.
std::span<const Report> answers(const Page& page);

/// Parts of one whole, e.g. where the time of a step goes.
struct Part {
  std::string name;
  double share = 0;    ///< of the whole, 0 … 1
  std::string amount;  ///< for people
};

/// The rows of a table that divide a whole, in order; empty if they do not. The table has shape `bars`, a
/// text key, one share column and at most 12 rows, whose shares add up to 0.98 … 1.005.
std::vector<Part> parts_of(const Table& table);

/// One bar per row: the columns that are its parts.
struct Stack {
  std::vector<const Column*> keys;  ///< name a row's bar, e.g. rank and step
  const Column* whole = nullptr;    ///< length of a row's bar, nullptr: the parts' sum
  std::vector<const Column*> parts;
};

/// The stack in a table of shape `bars`: at least two columns with role share, or else at least two tagged as
/// parts. nullopt otherwise.
std::optional<Stack> stack_of(const Table& table);

/// Whether each row is a rank.
bool compares_ranks(const Stack& stack);

/// The length of part `index` in `row`, in the unit of the stack; 0 when absent or negative.
double part_length(const Stack& stack, std::size_t index, std::size_t row);
/// "rank 0 · step 7", "step 7", "forward".
std::string label_of(const Stack& stack, std::size_t row);
/// The length of the whole bar: at least the parts' sum.
double bar_length(const Stack& stack, std::size_t row);

/// Whether the rows divide a whole.
bool shows_whole(const Table& table);

/// The notes of all reports without repetition.
std::vector<std::string> notes_of(const Page& page);

}  // namespace stepscope::report
