// Which columns of a table a terminal of a given width can hold, how wide each may be, and what bars and
// lines of text look like. Nothing here prints.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

/// One printed column: its full cells, and the width that it gets.
struct Strip {
  const Column* column = nullptr;   ///< nullptr for the bar
  bool text = false;                ///< left-aligned, may be shortened
  std::string name;                 ///< its heading
  std::vector<std::string> cells;   ///< one line each, safe to print
  std::vector<std::string> header;  ///< lines, broken to fit
  int natural = 0;                  ///< cells of the widest entry
  int least = 0;                    ///< cells below which a text cannot be read
  int width = 0;                    ///< given by fit()
  bool bar = false;
  bool zero = false;  ///< only zeros: dropped early
};

struct Layout {
  std::vector<Strip> strips;        ///< what fits, in order
  std::vector<std::string> hidden;  ///< names of the columns that do not
};

inline constexpr int kGap = 2;

/// Fits `strips` into `width` terminal cells. In this order: long texts shrink to a comfortable length;
/// detail columns (the last first), columns of zeros and the bar are dropped; texts shrink further; the last
/// value columns are dropped. The first column always stays.
Layout fit(std::vector<Strip> strips, int width);

/// A bar of `fraction` (0 … 1) of `cells`, to an eighth of a cell; anything above zero shows at least the
/// thinnest.
std::string bar(double fraction, int cells);

/// How many of `cells` each part gets, largest remainders first, so that they add up to the sum's rounded
/// share of `whole`. Parts above zero get at least one cell while there is room.
std::vector<int> cells_per_part(const std::vector<double>& parts, double whole, int cells);

std::string repeated(std::string_view piece, int times);

/// `text` filled up with spaces to `width` cells, on its left or right.
std::string padded(std::string_view text, int width, bool left = true);

/// `first`, then `text`, in lines of at most `columns` cells; later lines are indented to where `text`
/// begins.
std::string hung(std::string_view first, std::string_view text, int columns);

/// "device_total" as "device total"; "sum(a_b)" stays.
std::string spoken(std::string_view column_name);

/// The same for a heading of `column` among `columns`, without a suffix that repeats the cells' unit:
/// "total_ns" in ns is "total", unless another column has that name.
std::string heading(const Column& column, std::span<const Column> columns);

}  // namespace stepscope::report
