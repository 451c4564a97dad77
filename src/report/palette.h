// How a kind of work looks on the terminal and in HTML, in every chart: a colour and a hatch. Any two colours
// except the two greys differ by at least 9 OKLab units (x 100) for normal, protan, deutan and tritan vision.
// No two hatches are the same, so charts can be read without colour.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::report {

enum class Family : std::uint8_t {
  compute,      ///< kernels, matrix products
  elementwise,  ///< pointwise, norms, reductions
  attention,
  communication,
  copy,
  fill,  ///< memory set to a value
  host,  ///< operators on the host
  host_backward,
  python,
  data,     ///< data loading, file I/O
  runtime,  ///< runtime and driver calls
  waiting,  ///< idle, synchronising
  other,
};
inline constexpr int kFamilies = 13;

struct Paint {
  std::string_view name;        ///< class name in HTML
  std::string_view light;       ///< on #FFFFFF
  std::string_view light_text;  ///< text on `light`
  std::string_view dark;        ///< on #14181D
  std::string_view dark_text;
  std::string_view cell;   ///< the hatch on a terminal, one cell
  std::string_view hatch;  ///< the hatch as an SVG path in a tile of 8 x 8, stroked; "" for plain
  int terminal;            ///< of the 256 colours, legible on black and on white
};

const Paint& paint_of(Family family);

/// The family of a column, class or category name, by the words in it; else `other`.
Family family_of(std::string_view name);

}  // namespace stepscope::report
