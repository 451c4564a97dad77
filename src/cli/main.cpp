// stepscope: the command line.
#include <csignal>
#include <cstdio>
#include <exception>

#include "base/kept_pipes.h"
#include "base/memory.h"
#include "cli/args.h"
#include "cli/exit.h"
#include "cli/present.h"

int main(int argc, char** argv) {
  using namespace stepscope::cli;
  stepscope::keep_freed_memory();
  const stepscope::KeepPipes keep;  // overlay and gate read a recording more than once
  std::signal(SIGPIPE, SIG_IGN);    // writing to a closed pipe fails instead
  std::signal(SIGXFSZ, SIG_IGN);    // and so does writing beyond the file size limit
  try {
    auto parsed = parse(argc, argv);
    if (const auto* answer = std::get_if<Answer>(&parsed)) {
      if (answer->exit_code == kDone) return print(answer->text);
      std::fputs(answer->text.c_str(), stderr);
      return answer->exit_code;
    }
    const Call& call = std::get<Call>(parsed);
    return call.command->run(call);
  } catch (const std::bad_alloc&) {
    std::fputs("stepscope: out of memory; open fewer files at once or use a larger machine\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stepscope: %s\n", error.what());
  }
  return kFailed;
}
