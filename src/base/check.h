// CHECK: an assertion about our own code that stays on in release builds. It is for bugs, never for input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition) \
  do { \
    if (!(condition)) [[unlikely]] { \
      std::fprintf(stderr, "stepscope: bug: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort(); \
    } \
  } while (0)
