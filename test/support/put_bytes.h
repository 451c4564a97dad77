// Binary files by hand, for tests.
#pragma once

#include <string>

namespace stepscope::test {

/// Appends `value` as it lies in memory.
template <class T>
void put_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace stepscope::test
