// A Table for other programs through Arrow's C data interface, as one struct array. Integers and reals are
// the columns' own memory; only a column with missing values has a bitmap beside it. Texts are large_utf8,
// gathered once. Fields have the metadata "unit" and "role", the struct has "title" and "shape".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/formats/arrow_abi.h"
#include "report/table.h"

namespace stepscope::report {

/// Exports a table any number of times, to any thread; each export keeps the table alive.
class ArrowTable {
 public:
  explicit ArrowTable(std::shared_ptr<const Table> table);

  /// Each fills `out`, which the receiver releases.
  void schema_to(ArrowSchema* out) const;
  void array_to(ArrowArray* out) const;
  void stream_to(ArrowArrayStream* out) const;

  /// The memory that a column needs beside its own.
  struct Beside {
    std::int64_t missing = 0;
    std::vector<std::uint8_t> present;      ///< a bit per row, empty when nothing is missing
    std::vector<std::int64_t> text_starts;  ///< of texts: the start of each, and the end of the last
    std::string text;
  };
  struct Kept {
    std::shared_ptr<const Table> table;
    std::vector<Beside> beside;  ///< by column
  };

 private:
  std::shared_ptr<const Kept> kept_;
};

}  // namespace stepscope::report
