// A folder with made recordings, for tests.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace stepscope::serve {

/// A recording of one op, without step marks; `more`: further members of the document.
inline std::string one_op(const std::string& name, const std::string& more = "") {
  return R"({"schemaVersion":1,)" + more + R"("traceEvents":[{"ph":"X","cat":"cpu_op","name":")" + name +
         R"(","pid":1,"tid":1,"ts":1,"dur":2}]})";
}

class FolderForTest {
 public:
  explicit FolderForTest(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;
  ~FolderForTest() { std::filesystem::remove_all(path_); }

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

}  // namespace stepscope::serve
