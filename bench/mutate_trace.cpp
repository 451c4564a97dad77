// mutate_trace IN SEED OUT [--inside]: writes one damaged copy of IN. A gzip file is damaged as stored, or,
// with --inside, unpacked, damaged and packed again.
#include <zlib.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "mutate.h"

namespace {

constexpr std::size_t kMax = std::size_t{1} << 30;

bool read_file(const char* path, std::string& bytes) {
  std::ifstream in(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || in.eof();
}

bool unpack(const char* path, std::string& text) {
  const gzFile file = gzopen(path, "rb");
  if (file == nullptr) return false;
  char block[1 << 16];
  int got = 0;
  while ((got = gzread(file, block, sizeof block)) > 0 && text.size() < kMax) {
    text.append(block, static_cast<std::size_t>(got));
  }
  return gzclose(file) == Z_OK && got == 0;
}

bool write_file(const char* path, const std::string& bytes, bool pack) {
  if (pack) {
    const gzFile file = gzopen(path, "wb1");
    if (file == nullptr) return false;
    const bool done = bytes.empty() || gzfwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return gzclose(file) == Z_OK && done;
  }
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return out.flush().good();
}

int usage() {
  std::fputs(
      "usage: mutate_trace IN SEED OUT [--inside]\n"
      "Writes a copy of IN with one to four random damages; the same SEED gives the same bytes.\n"
      "--inside unpacks a gzip file before and packs the result.\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5 || (argc == 5 && std::strcmp(argv[4], "--inside") != 0)) return usage();
  std::uint64_t seed = 0;
  const char* seed_end = argv[2] + std::strlen(argv[2]);
  if (const auto read = std::from_chars(argv[2], seed_end, seed);
      read.ec != std::errc() || read.ptr != seed_end) {
    return usage();
  }
  const bool inside = argc == 5;
  std::string bytes;
  if (inside ? !unpack(argv[1], bytes) : !read_file(argv[1], bytes)) {
    std::fprintf(stderr, "mutate_trace: cannot read %s\n", argv[1]);
    return 1;
  }
  const stepscope::bench::Mutant mutant = stepscope::bench::mutate(bytes, seed);
  if (!write_file(argv[3], mutant.bytes, inside)) {
    std::fprintf(stderr, "mutate_trace: cannot write %s\n", argv[3]);
    return 1;
  }
  for (const auto mutation : mutant.applied) std::printf("%s ", stepscope::bench::mutation_name(mutation));
  std::printf("%zu -> %zu bytes\n", bytes.size(), mutant.bytes.size());
  return 0;
}
