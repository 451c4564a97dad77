// `stepscope serve PATH...`: the page, on this machine.
#include "serve/serve.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "cli/browser.h"
#include "cli/exit.h"
#include "cli/present.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kMaxPort = 65535;

/// One sentence why the flags do not fit together, or "".
std::string flags_misfit(const Call& call) {
  if (call.params.integer("port") > kMaxPort)
    return fmt::format("--port {}: the highest port is {}", call.params.text("port"), kMaxPort);
  if (call.params.has("bind") && call.params.flag("no-token"))
    return "--no-token is for this machine alone: leave out --bind or --no-token";
  for (const std::string& path : call.words)
    if (path == "-") return "serve cannot read standard input; give files or folders";
  return "";
}

void tell(const Call& call, const std::string& address, std::size_t runs) {
  fmt::print("{}\n", address);
  std::fflush(stdout);
  say(fmt::format("{} run{} found. Open the address above; Ctrl-C ends the server.", runs,
                  runs == 1 ? "" : "s"));
  if (call.params.has("bind"))
    say("warning: nothing is encrypted, the token included. Without --bind, `ssh -L PORT:localhost:PORT "
        "HOST` "
        "brings the page to another machine.");
}

}  // namespace

int run_serve(const Call& call) {
  if (call.words.empty()) return misuse(call, "serve needs a path: a file, or a folder of runs");
  if (const std::string reason = flags_misfit(call); !reason.empty()) return misuse(call, reason);
  std::optional<Redirection> redirection;
  serve::Options options;
  options.paths = call.words;
  options.bind = call.params.text("bind");
  options.port = static_cast<std::uint16_t>(call.params.integer("port"));
  options.allowed_hosts = call.params.texts("allow-host");
  options.base = call.params.text("base");
  options.source_root = call.params.text("source-root");
  options.asks_token = !call.params.flag("no-token");
  options.is_embedded = call.params.flag("embed");
  options.began = [&](const std::string& address, std::size_t runs) {
    tell(call, address, runs);
    if (call.params.flag("open")) redirection.emplace(address);
  };
  options.ended = [&](bool is_idle) {
    redirection.reset();
    if (!is_idle) std::_Exit(kDone);  // nobody awaits the answers that are being computed
  };
  if (call.params.flag("verbose")) options.log = say;
  const auto error = serve::serve(options);
  return error ? fail(*error) : kDone;
}

}  // namespace stepscope::cli
