// Which columns of a table a terminal of a given width can hold, and how wide each may be. Nothing here
// prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

/// One printed column: its cells as they would like to be, and the width they are given.
struct Strip {
  const Column* column = nullptr;   ///< nullptr for the bar
  bool text = false;                ///< left-aligned, may be shortened
  std::string name;                 ///< its heading
  std::vector<std::string> cells;   ///< one line each, safe to print
  std::vector<std::string> header;  ///< lines, broken to fit
  int natural = 0;                  ///< cells of the widest entry
  int width = 0;                    ///< given by fit()
  bool bar = false;
  bool zero = false;  ///< nothing but zeros: goes early
};

struct Layout {
  std::vector<Strip> strips;        ///< what fits, in order
  std::vector<std::string> hidden;  ///< names of the columns that do not
};

inline constexpr int kGap = 2;

/// Fits `strips` into `width` terminal cells. In this order: long texts give way down to a comfortable
/// length, detail columns go (the last first), the bar goes, texts give way further, then the last value
/// columns go. The first key column always stays.
Layout fit(std::vector<Strip> strips, int width);

/// "device_total" as "device total"; "sum(a_b)" stays.
std::string spoken(std::string_view column_name);

/// The same for a heading of `column` among `columns`, without an ending that the cells' unit repeats:
/// "total_ns" in ns is "total", unless another one is.
std::string heading(const Column& column, std::span<const Column> columns);

}  // namespace stepscope::report
