#include "cli/record_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "record/io/static_program.h"
#include "report/utf8.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libstepscope_io.so";

/// Beside the program in a build folder, in lib after an installation, in the Python package after pip, which
/// `pip install --target` puts beside bin.
Result<fs::path> library() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path(), lib = own.parent_path();
  std::vector<fs::path> tried = {own / kLibrary, lib / "stepscope" / kLibrary};
  for (const char* name : {"lib", "lib64"}) {
    tried.push_back(lib / name / kLibrary);
    for (fs::directory_iterator it(lib / name, error), end; !error && it != end; it.increment(error))
      if (it->path().filename().string().starts_with("python"))
        for (const char* packages : {"site-packages", "dist-packages"})
          tried.push_back(it->path() / packages / "stepscope" / kLibrary);
      else if (fs::exists(it->path() / kLibrary, error))
        tried.push_back(it->path() / kLibrary);
  }
  for (const fs::path& path : tried)
    if (fs::exists(path, error)) return path;
  return Error{"is not beside this program, so I/O cannot be recorded; install stepscope again", kLibrary};
}

/// The file that the shell would start.
fs::path found(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (const fs::path file = fs::path(folder) / program; ::access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  return program;
}

/// Why nothing can be preloaded into the program; "" if it can, or if it is a script.
std::string unreachable(const fs::path& program) {
  struct stat what{};
  if (::stat(program.c_str(), &what) == 0 && (what.st_mode & (S_ISUID | S_ISGID)) != 0)
    return "runs with its owner's rights (setuid), and the system preloads nothing into such programs";
  const int file = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const bool is_static = record::is_static_program(file);
  ::close(file);
  return is_static ? "is linked statically, so nothing can be preloaded into it" : "";
}

/// The variable's value followed or preceded by ours.
std::string joined(const char* name, const std::string& first, char separator, const std::string& last) {
  const char* before = std::getenv(name);
  std::string value = first;
  if (before != nullptr && *before != '\0')
    value += (value.empty() ? "" : std::string(1, separator)) + before;
  if (!last.empty()) value += (value.empty() ? "" : std::string(1, separator)) + last;
  return fmt::format("{}={}", name, value);
}

/// Colon-separated absolute paths.
std::string absolute_paths(const std::string& list) {
  std::string out;
  std::error_code error;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (end > at)
      out += (out.empty() ? "" : ":") +
             fs::absolute(list.substr(at, end - at), error).lexically_normal().string();
    at = end + 1;
  }
  return out;
}

}  // namespace

/// The library has room for these and its own.
constexpr std::ptrdiff_t kMostPrefixes = 200;

Result<IoSetup> io_setup(const Call& call, const fs::path& folder) {
  IoSetup setup;
  if (!call.params.flag("io")) return setup;
  auto preloaded = library();
  if (!preloaded) return preloaded.error();
  if (!stays_whole(preloaded->string())) {
    auto place = TemporaryFolder::make("stepscope-io");
    if (!place) return place.error();
    const fs::path link = fs::path(place->path()) / kLibrary;
    std::error_code error;
    fs::create_symlink(*preloaded, link, error);
    if (error) return Error{error.message(), link.string()};
    setup.link.emplace(std::move(*place));
    preloaded = link;
  }
  std::ptrdiff_t prefixes = 0;
  for (const char* list : {"io-include", "io-exclude"})
    if (call.params.has(list)) prefixes += 1 + std::ranges::count(call.params.text(list), ':');
  if (prefixes > kMostPrefixes)
    return Error{fmt::format("at most {} paths can be given, these are {}; name a folder that holds several",
                             kMostPrefixes, prefixes),
                 "--io-include and --io-exclude"};
  std::vector<std::string>& all = setup.environment;
  if (const std::string why = unreachable(found(call.program[0])); !why.empty())
    return Error{why + "; record it without --io", call.program[0]};
  all.push_back(joined("LD_PRELOAD", preloaded->string(), ':', ""));
  all.push_back("STEPSCOPE_IO=" + folder.string());
  // A program with AddressSanitizer refuses to start after a library that it does not know.
  all.push_back(joined("ASAN_OPTIONS", "", ':', "verify_asan_link_order=0"));
  if (call.params.has("io-include"))
    all.push_back("STEPSCOPE_IO_INCLUDE=" + absolute_paths(std::string(call.params.text("io-include"))));
  std::string excluded = scratch_folder().lexically_normal().string();
  if (call.params.has("io-exclude"))
    excluded += ":" + absolute_paths(std::string(call.params.text("io-exclude")));
  all.push_back("STEPSCOPE_IO_EXCLUDE=" + excluded);
  if (call.params.has("megabytes"))
    all.push_back("STEPSCOPE_IO_MEGABYTES=" + std::string(call.params.text("megabytes")));
  return setup;
}

std::vector<std::string> io_troubles(const fs::path& folder) {
  constexpr std::size_t kMostPrograms = 5;
  std::map<std::string, int> told;
  std::set<std::string> unseen;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename().string();
        name.starts_with("not-recorded-") || name.starts_with("not-seen-"))
      files.push_back(it->path());
  for (const fs::path& path : files) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    if (path.filename().string().starts_with("not-recorded-"))
      ++told[line.empty() ? "The disk was full: record to another disk."
                          : line];  // there was no room for the sentence
    else if (!line.empty())
      unseen.insert(report::one_line(line));
    fs::remove(path, error);
  }
  std::vector<std::string> out;
  for (const auto& [why, count] : told)
    out.push_back(count == 1 ? "in a process: " + why : fmt::format("in {} processes: {}", count, why));
  for (const std::string& program : unseen) {
    if (out.size() - told.size() == kMostPrograms) {
      out.push_back(fmt::format("in {} more programs", unseen.size() - kMostPrograms));
      break;
    }
    out.push_back("in " + program + ": nothing can be preloaded into it; strace sees it (docs/io.md)");
  }
  return out;
}

}  // namespace stepscope::cli
