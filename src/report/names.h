// Shortens long names. C++ names of kernels carry a return type, argument types and namespaces that help a
// reader little, so these are dropped first.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::report {

/// `name` in at most `cells` terminal cells: whole if it fits; else a C++ function loses its return type and
/// argument list, then the namespaces of every word in it; else the middle is cut out.
std::string short_name(std::string_view name, int cells);

}  // namespace stepscope::report
