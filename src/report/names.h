// Shortens long names. C++ names of kernels carry a return type, argument types and namespaces that help a
// reader little, and lines of a program the folders of its files, so these are dropped first.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::report {

/// `name` in at most `cells` terminal cells: whole if it fits; else a C++ function loses its return type and
/// argument list, then the namespaces of every word in it; a line, "/a/b/train.py(7): step", loses folders
/// from the left, and a stack of them, with semicolons, all folders; else the middle is cut out.
std::string short_name(std::string_view name, int cells);

/// Cells of the shortest form that still names a line whole, "train.py(7): step"; 0 for what is no line.
int cells_of_line(std::string_view name);

}  // namespace stepscope::report
