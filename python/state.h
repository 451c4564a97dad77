// Tables, reports and pages as bytes, so that Python can pickle them. The bytes are of this version of the
// package: others are refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "python/objects.h"

namespace stepscope::python {

std::string state_of(const Table& table);
std::string state_of(const Report& report);
std::string state_of(const Page& page);

/// Each throws a Refusal for bytes that the function above did not make.
std::shared_ptr<Table> restored_table(std::string_view state);
Report restored_report(std::string_view state);
Page restored_page(std::string_view state);

}  // namespace stepscope::python
