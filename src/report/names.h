// Names that are too long. C++ names of kernels carry a return type, argument types and namespaces that tell
// a reader little; those go before any letter of the rest does.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::report {

/// `name` in at most `cells` terminal cells: whole if it fits; else a C++ function loses its return type and
/// argument list, then the namespaces of every word in it; else the middle is lost.
std::string short_name(std::string_view name, int cells);

}  // namespace stepscope::report
