// bench_limits FILE: how fast this machine reads FILE on one core, without parsing it.
// Prints lines "NAME SECONDS BYTES": memory_read (the file in memory, summed), read (read() into a reused
// buffer) and, for a gzip file, inflate (from memory into a reused buffer; BYTES is the size of the text).
// Each runs twice; the second run counts.
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kReadBlock = std::size_t{1} << 20;
constexpr std::size_t kInflateBlock = std::size_t{256} << 10;

/// Keeps the sums from being optimised away.
volatile std::uint64_t sink = 0;

template <typename Work>
void print_second(const char* name, Work work) {
  std::size_t bytes = work();
  const auto begin = std::chrono::steady_clock::now();
  bytes = work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s %.6f %zu\n", name, took.count(), bytes);
}

std::size_t sum(Bytes bytes) {
  std::uint64_t sums[8] = {};
  std::size_t at = 0;
  for (; at + sizeof sums <= bytes.size(); at += sizeof sums) {
    std::uint64_t words[8];
    std::memcpy(words, bytes.data() + at, sizeof words);
    for (int i = 0; i < 8; ++i) sums[i] += words[i];
  }
  for (const std::uint64_t part : sums) sink = sink + part;
  return at;
}

std::size_t read_through(int file) {
  static std::vector<char> buffer(kReadBlock);
  std::size_t bytes = 0;
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(file, buffer.data(), buffer.size())) > 0;) {
    bytes += static_cast<std::size_t>(got);
  }
  return bytes;
}

/// Bytes of text in all members; 0 when one is damaged.
std::size_t inflate(Bytes stored) {
  static std::vector<std::uint8_t> text(kInflateBlock);
  std::size_t bytes = 0;
  while (stored.size() >= 18) {  // min size of a member
    inflate_state state;
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = const_cast<std::uint8_t*>(stored.data());
    state.avail_in = static_cast<std::uint32_t>(stored.size());
    do {
      state.next_out = text.data();
      state.avail_out = static_cast<std::uint32_t>(text.size());
      if (isal_inflate(&state) != ISAL_DECOMP_OK) return 0;
      const std::size_t got = text.size() - state.avail_out;
      if (got == 0 && state.block_state != ISAL_BLOCK_FINISH) return 0;
      bytes += got;
    } while (state.block_state != ISAL_BLOCK_FINISH);
    stored = stored.last(state.avail_in);
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: bench_limits FILE\n", stderr), 2;
  const int file = ::open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size <= 0) return std::perror(argv[1]), 1;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) return std::perror(argv[1]), 1;
  const Bytes stored(static_cast<const std::uint8_t*>(memory), size);

  print_second("memory_read", [&] { return sum(stored); });
  print_second("read", [&] { return read_through(file); });
  if (size > 2 && stored[0] == 0x1f && stored[1] == 0x8b && size < (std::size_t{1} << 32)) {
    print_second("inflate", [&] { return inflate(stored); });
  }
  return 0;
}
