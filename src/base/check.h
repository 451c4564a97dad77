// CHECK: an assertion that stays on in release builds. For bugs in our own code, never for bad input.
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
