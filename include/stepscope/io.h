// Annotations for C and C++ with the shapes of DFTracer's macros. Ranges go into the recording of the
// process, with their args; without one, each costs a call and a load. Defining STEPSCOPE_AS_DFTRACER before
// the include gives DFTRACER_* names, too.
//
//   void load(int step) {                           // C++
//     STEPSCOPE_CPP_FUNCTION();
//     STEPSCOPE_CPP_FUNCTION_UPDATE("step", step);
//     { STEPSCOPE_CPP_REGION(decode); ... }
//   }
//
//   void load(int step) {                           /* C */
//     STEPSCOPE_C_FUNCTION_START();
//     STEPSCOPE_C_FUNCTION_UPDATE_INT("step", step);
//     ...
//     STEPSCOPE_C_FUNCTION_END();                   /* before each return */
//   }
//
// The recording is opened by collect.h's Recording, or STEPSCOPE_C_INIT(path) and STEPSCOPE_C_FINI(). Link
// with stepscope::collect.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
int stepscope_open(const char* path, uint32_t megabytes, uint32_t flags);
int stepscope_start(void);
int stepscope_stop(void);
uint64_t stepscope_close(void);
uint64_t stepscope_tick(void);
void stepscope_range(uint64_t begin, const char* name, uint32_t length, const char* members, uint32_t bytes);
#ifdef __cplusplus
}
#endif

/// A range that is open. `members`: its args as members of a JSON object. What does not fit is left out.
struct stepscope_io_range {
  uint64_t begin; /* 0: nothing was recorded when it began */
  const char* name;
  uint32_t bytes;
  char members[1012];
};

/// `text` is written as a JSON string, cut to what fits. `used` bytes of `out` are taken. Returns the bytes
/// taken then; 0: no room.
static inline uint32_t stepscope_io_put(char* out, uint32_t used, uint32_t size, const char* text) {
  static const char digits[] = "0123456789abcdef";
  if (used + 2 > size) return 0;
  out[used++] = '"';
  for (; *text != '\0'; ++text) {
    const unsigned char letter = (unsigned char)*text;
    if (used + 8 > size) return 0;
    if (letter == '"' || letter == '\\') {
      out[used++] = '\\';
      out[used++] = (char)letter;
    } else if (letter < 0x20) {
      memcpy(out + used, "\\u00", 4);
      out[used + 4] = digits[letter >> 4];
      out[used + 5] = digits[letter & 15];
      used += 6;
    } else {
      out[used++] = (char)letter;
    }
  }
  out[used++] = '"';
  return used;
}

/// Adds `"key":` and returns the bytes that are then taken; 0: no room.
static inline uint32_t stepscope_io_key(struct stepscope_io_range* range, const char* key) {
  uint32_t used = range->bytes;
  if (used + 4 > sizeof range->members) return 0;
  if (used > 0) range->members[used++] = ',';
  used = stepscope_io_put(range->members, used, sizeof range->members - 32, key);
  if (used != 0) range->members[used++] = ':';
  return used;
}

static inline void stepscope_io_int(struct stepscope_io_range* range, const char* key, long long value) {
  const uint32_t used = range->begin == 0 ? 0 : stepscope_io_key(range, key);
  if (used == 0) return;
  range->bytes = used + (uint32_t)snprintf(range->members + used, 24, "%lld", value);
}

static inline void stepscope_io_text(struct stepscope_io_range* range, const char* key, const char* value) {
  uint32_t used = range->begin == 0 ? 0 : stepscope_io_key(range, key);
  if (used != 0) used = stepscope_io_put(range->members, used, sizeof range->members, value);
  if (used != 0) range->bytes = used;
}

static inline void stepscope_io_begin(struct stepscope_io_range* range, const char* name,
                                      const char* category) {
  range->begin = stepscope_tick();
  range->name = name;
  range->bytes = 0;
  stepscope_io_text(range, "cat", category);
}

static inline void stepscope_io_end(struct stepscope_io_range* range) {
  if (range->begin == 0) return;
  stepscope_range(range->begin, range->name, (uint32_t)strlen(range->name), range->members, range->bytes);
  range->begin = 0;
}

/// 0, or an errno.
static inline int stepscope_io_open(const char* path) {
  const int error = stepscope_open(path, 256, 0);
  return error != 0 ? error : stepscope_start();
}
static inline void stepscope_io_close(void) {
  stepscope_stop();
  stepscope_close();
}

#define STEPSCOPE_C_INIT(path) stepscope_io_open(path)
#define STEPSCOPE_C_FINI() stepscope_io_close()
#define STEPSCOPE_C_REGION_START(NAME) \
  struct stepscope_io_range stepscope_io_##NAME; \
  stepscope_io_begin(&stepscope_io_##NAME, #NAME, "C_APP")
#define STEPSCOPE_C_REGION_END(NAME) stepscope_io_end(&stepscope_io_##NAME)
#define STEPSCOPE_C_REGION_UPDATE_INT(NAME, KEY, VALUE) stepscope_io_int(&stepscope_io_##NAME, KEY, VALUE)
#define STEPSCOPE_C_REGION_UPDATE_STR(NAME, KEY, VALUE) stepscope_io_text(&stepscope_io_##NAME, KEY, VALUE)
#define STEPSCOPE_C_FUNCTION_START() \
  struct stepscope_io_range stepscope_io_of_function; \
  stepscope_io_begin(&stepscope_io_of_function, __func__, "C_APP")
#define STEPSCOPE_C_FUNCTION_END() stepscope_io_end(&stepscope_io_of_function)
#define STEPSCOPE_C_FUNCTION_UPDATE_INT(KEY, VALUE) stepscope_io_int(&stepscope_io_of_function, KEY, VALUE)
#define STEPSCOPE_C_FUNCTION_UPDATE_STR(KEY, VALUE) stepscope_io_text(&stepscope_io_of_function, KEY, VALUE)

#ifdef __cplusplus
#include <string>
#include <type_traits>

namespace stepscope::io {

/// A range for the lifetime of this object, or until end(). Ranges may end in any order. `name` must outlive
/// it.
class Range {
 public:
  explicit Range(const char* name, const char* category = "CPP_APP") {
    stepscope_io_begin(&range_, name, category);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() { end(); }

  void end() { stepscope_io_end(&range_); }
  template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
  void update(const char* key, T value) {
    stepscope_io_int(&range_, key, static_cast<long long>(value));
  }
  void update(const char* key, const char* value) { stepscope_io_text(&range_, key, value); }
  void update(const char* key, const std::string& value) { update(key, value.c_str()); }

 private:
  stepscope_io_range range_;
};

}  // namespace stepscope::io

#define STEPSCOPE_CPP_INIT(path) stepscope_io_open(path)
#define STEPSCOPE_CPP_FINI() stepscope_io_close()
#define STEPSCOPE_CPP_FUNCTION() ::stepscope::io::Range stepscope_io_of_function(__func__)
#define STEPSCOPE_CPP_FUNCTION_UPDATE(KEY, VALUE) stepscope_io_of_function.update(KEY, VALUE)
/// Until the end of the block.
#define STEPSCOPE_CPP_REGION(NAME) ::stepscope::io::Range stepscope_io_##NAME(#NAME)
#define STEPSCOPE_CPP_REGION_UPDATE(NAME, KEY, VALUE) stepscope_io_##NAME.update(KEY, VALUE)
/// Until STEPSCOPE_CPP_REGION_END(NAME), or the end of the block.
#define STEPSCOPE_CPP_REGION_START(NAME) ::stepscope::io::Range stepscope_io_##NAME(#NAME)
#define STEPSCOPE_CPP_REGION_END(NAME) stepscope_io_##NAME.end()
#define STEPSCOPE_CPP_REGION_DYN_UPDATE(NAME, KEY, VALUE) stepscope_io_##NAME.update(KEY, VALUE)
#endif

#ifdef STEPSCOPE_AS_DFTRACER
#define DFTRACER_C_INIT(LOG, DIRS, PID) STEPSCOPE_C_INIT(LOG)
#define DFTRACER_C_INIT_NO_BIND(LOG, DIRS, PID) STEPSCOPE_C_INIT(LOG)
#define DFTRACER_C_FINI() STEPSCOPE_C_FINI()
#define DFTRACER_C_REGION_START(NAME) STEPSCOPE_C_REGION_START(NAME)
#define DFTRACER_C_REGION_END(NAME) STEPSCOPE_C_REGION_END(NAME)
#define DFTRACER_C_REGION_UPDATE_INT(NAME, KEY, VALUE) STEPSCOPE_C_REGION_UPDATE_INT(NAME, KEY, VALUE)
#define DFTRACER_C_REGION_UPDATE_STR(NAME, KEY, VALUE) STEPSCOPE_C_REGION_UPDATE_STR(NAME, KEY, VALUE)
#define DFTRACER_C_FUNCTION_START() STEPSCOPE_C_FUNCTION_START()
#define DFTRACER_C_FUNCTION_END() STEPSCOPE_C_FUNCTION_END()
#define DFTRACER_C_FUNCTION_UPDATE_INT(KEY, VALUE) STEPSCOPE_C_FUNCTION_UPDATE_INT(KEY, VALUE)
#define DFTRACER_C_FUNCTION_UPDATE_STR(KEY, VALUE) STEPSCOPE_C_FUNCTION_UPDATE_STR(KEY, VALUE)
#ifdef __cplusplus
#define DFTRACER_CPP_INIT(LOG, DIRS, PID) STEPSCOPE_CPP_INIT(LOG)
#define DFTRACER_CPP_INIT_NO_BIND(LOG, DIRS, PID) STEPSCOPE_CPP_INIT(LOG)
#define DFTRACER_CPP_FINI() STEPSCOPE_CPP_FINI()
#define DFTRACER_CPP_FUNCTION() STEPSCOPE_CPP_FUNCTION()
#define DFTRACER_CPP_FUNCTION_UPDATE(KEY, VALUE) STEPSCOPE_CPP_FUNCTION_UPDATE(KEY, VALUE)
#define DFTRACER_CPP_REGION(NAME) STEPSCOPE_CPP_REGION(NAME)
#define DFTRACER_CPP_REGION_UPDATE(NAME, KEY, VALUE) STEPSCOPE_CPP_REGION_UPDATE(NAME, KEY, VALUE)
#define DFTRACER_CPP_REGION_START(NAME) STEPSCOPE_CPP_REGION_START(NAME)
#define DFTRACER_CPP_REGION_END(NAME) STEPSCOPE_CPP_REGION_END(NAME)
#define DFTRACER_CPP_REGION_DYN_UPDATE(NAME, KEY, VALUE) STEPSCOPE_CPP_REGION_DYN_UPDATE(NAME, KEY, VALUE)
#endif
#endif
