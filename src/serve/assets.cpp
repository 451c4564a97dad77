#include "serve/assets.h"

#include "serve/fingerprint.h"

namespace stepscope::serve {
namespace {

constexpr std::string_view kPage = "index.html";

struct MediaType {
  std::string_view ending, type;
};
constexpr MediaType kMediaTypes[] = {{".html", "text/html; charset=utf-8"},
                                     {".js", "text/javascript; charset=utf-8"},
                                     {".css", "text/css; charset=utf-8"},
                                     {".svg", "image/svg+xml"},
                                     {".png", "image/png"},
                                     {".woff2", "font/woff2"}};

std::string type_of(std::string_view name) {
  for (const auto& [ending, type] : kMediaTypes)
    if (name.ends_with(ending)) return std::string(type);
  return "application/octet-stream";
}

/// "app.js" becomes "app.0123456789abcdef.js".
std::string hashed_name(const EmbeddedFile& file) {
  const std::size_t dot = std::min(file.name.rfind('.'), file.name.size());
  return std::string(file.name.substr(0, dot)) + '.' + fingerprint(file.bytes) +
         std::string(file.name.substr(dot));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Assets::Assets(std::span<const EmbeddedFile> files) {
  for (const EmbeddedFile& file : files)
    if (file.name == kPage) page_.body = file.bytes;
  for (const EmbeddedFile& file : files) {
    if (file.name == kPage) continue;
    const std::string name = hashed_name(file);
    Response asset;
    asset.type = type_of(file.name);
    asset.body = file.bytes;
    asset.etag = fingerprint(file.bytes);
    asset.cache_control = "public, max-age=31536000, immutable";
    replace_all(page_.body, "assets/" + std::string(file.name), "assets/" + name);
    assets_.emplace(name, std::move(asset));
  }
  page_.type = type_of(kPage);
  page_.etag = fingerprint(page_.body);
}

const Response* Assets::named(std::string_view name) const {
  const auto found = assets_.find(name);
  return found == assets_.end() ? nullptr : &found->second;
}

}  // namespace stepscope::serve
