// The colour of a kind of work, the same on the terminal, in HTML and on the web page. Any two differ by at
// least 9 OKLab units (x 100) for normal, protan, deutan and tritan vision, and each by 3:1 from its
// background; a pattern repeats what the colour says.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::report {

enum class Family : std::uint8_t {
  compute,      ///< kernels, matrix products
  elementwise,  ///< pointwise, norms, reductions
  attention,
  communication,
  copy,  ///< memory copies and fills
  host,  ///< operators on the host
  host_backward,
  python,
  data,     ///< data loading, file I/O
  runtime,  ///< runtime and driver calls
  waiting,  ///< idle, synchronising
  other,
};
inline constexpr int kFamilies = 12;

struct Paint {
  std::string_view name;        ///< class name in HTML
  std::string_view light;       ///< on #FFFFFF
  std::string_view light_text;  ///< on top of it
  std::string_view dark;        ///< on #14181D
  std::string_view dark_text;
  std::string_view fill;  ///< one terminal cell
  int terminal;           ///< of the 256 colours, legible on black and on white
};

const Paint& paint_of(Family family);

/// The family that a column, class or category name speaks of; `other` when it is none of ours.
Family family_of(std::string_view name);

}  // namespace stepscope::report
