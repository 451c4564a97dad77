// The pieces a text page is made of; text.cpp puts them in order. Each appends whole lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/judgement.h"
#include "report/page.h"
#include "report/text/text.h"

namespace stepscope::report {

inline constexpr int kPlainInk = -1;
inline constexpr int kWarningInk = 172;
inline constexpr int kBarInk = 33;
inline constexpr int kMoreInk = 172, kLessInk = 33;  ///< orange and blue: distinct with any vision

/// Colour and weight on a terminal: SGR codes when wanted, nothing otherwise.
class Ink {
 public:
  explicit Ink(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return dressed("1", text); }
  std::string dim(std::string_view text) const { return dressed("2", text); }
  /// One of the 256 terminal colours, or kPlainInk.
  std::string paint(int colour, std::string_view text) const {
    return colour == kPlainInk ? std::string(text) : dressed("38;5;" + std::to_string(colour), text);
  }

 private:
  std::string dressed(std::string_view code, std::string_view text) const {
    if (!on_ || text.empty()) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
  bool on_;
};

struct Sheet {
  std::string out;
  TextStyle style;
  Ink ink;

  explicit Sheet(const TextStyle& wanted) : style(wanted), ink(wanted.colour) {
    style.width = style.width < 40 ? 40 : style.width;
  }
  void line(std::string_view text = "") {
    out += text;
    out += '\n';
  }
  /// `text` (untrusted) wrapped after `first`; later lines are indented to where `text` begins.
  void paragraph(std::string_view first, std::string_view text, int colour = kPlainInk);
};

/// `line` cut after a word, with "…", to at most `room` cells.
std::string broken_off(std::string line, int room);

/// The first whole clauses of `text` that fit in `most` lines, with "…" if there is more. Cut after a word if
/// whole clauses would fill less than half of the lines.
std::vector<std::string> first_clauses(std::string_view text, int width, std::size_t most);

/// Rows and columns; trees are indented, bars are drawn after the first share.
void put_grid(Sheet& sheet, const Table& table);
/// One stacked bar per row, with a legend.
void put_stack(Sheet& sheet, const Table& table, const Stack& stack);
/// One bar as wide as the terminal, with a legend that names the amounts.
void put_whole(Sheet& sheet, const std::vector<Part>& parts);
/// A plot per value column and group of rows; false if the table has no numeric x or too few points.
bool put_curve(Sheet& sheet, const Table& table);
/// Shades for key x key -> value; false if the table is not of that form or does not fit.
bool put_matrix(Sheet& sheet, const Table& table);

/// Ranks with the same verdict share a sentence. `brief`: at most four sentences, and a single rank without
/// the facts that are in the first line of a page.
void put_verdict(Sheet& sheet, const Verdict& verdict, bool brief);
/// A bold sentence above everything else.
void put_headline(Sheet& sheet, std::string_view sentence);
/// Cards, under a heading for each When.
void put_findings(Sheet& sheet, const Verdict& verdict);
/// What a summary has shown in full.
struct Told {
  struct OfFinding {
    bool title = false, aside = false, remedy = false;
  };
  std::vector<OfFinding> findings;
  std::vector<bool> warnings;  ///< by warning, whether its sentence was shown; later ones may be missing
};
/// Findings, what they save together and the recording's health, a line or two each, in at most `room` lines
/// if possible.
Told put_summary(Sheet& sheet, const Verdict& verdict, std::size_t room);
/// For the first five findings: what to do, why and how to check it, without what was `told`.
void put_reasons(Sheet& sheet, const Verdict& verdict, const Told& told);
/// Warnings, without what was `told`.
void put_health(Sheet& sheet, const Verdict& verdict, const Told& told);

}  // namespace stepscope::report
