#include "report/text/layout.h"

#include <gtest/gtest.h>

#include "report/names.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

struct Made {
  Table table{"t", Shape::table, {}};
  Made() {
    table.texts("name");
    table.ints("total", Unit::ns);
    table.texts("grid", Role::detail);
    table.ints("largest_part", Unit::ns);
  }
  std::vector<Strip> strips() const {
    std::vector<Strip> out(4);
    const char* cells[] = {"a name of forty letters, or a few more..", "12.3 ms", "[64,7,1]", "99.9 ms"};
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].column = &table.columns[i];
      out[i].name = heading(table.columns[i], table.columns);
      out[i].text = i == 0 || i == 2;
      out[i].cells = {cells[i]};
    }
    return out;
  }
};

TEST(Layout, EverythingFitsWhenWide) {
  const Layout layout = fit(Made().strips(), 100);
  EXPECT_EQ(layout.strips.size(), 4u);
  EXPECT_EQ(layout.strips[0].width, 40);
  EXPECT_EQ(layout.strips[3].header, (std::vector<std::string>{"largest", "part"}));
}

TEST(Layout, NamesShrinkBeforeDetailsGo) {
  const Made made;
  Layout layout = fit(made.strips(), 60);
  EXPECT_EQ(layout.strips.size(), 4u);
  EXPECT_EQ(layout.strips[0].width, 60 - 7 - 8 - 7 - 3 * kGap);
  layout = fit(made.strips(), 50);
  EXPECT_EQ(layout.hidden, (std::vector<std::string>{"grid"}));
  EXPECT_EQ(layout.strips[0].width, 50 - 7 - 7 - 2 * kGap);
}

TEST(Layout, TheKeyStaysAlone) {
  const Made made;
  const Layout layout = fit(made.strips(), 12);
  ASSERT_EQ(layout.strips.size(), 1u);
  EXPECT_EQ(layout.strips[0].width, 12);
  EXPECT_EQ(layout.hidden, (std::vector<std::string>{"total", "largest_part", "grid"}));
}

TEST(Names, SignaturesGoBeforeNamespacesBeforeLetters) {
  const char* name = "void at::native::add<at::Half>(int, at::Half*)";
  EXPECT_EQ(short_name(name, 60), name);
  EXPECT_EQ(short_name(name, 30), "at::native::add<at::Half>");
  EXPECT_EQ(short_name(name, 24), "add<Half>");
  EXPECT_EQ(short_name("aten::convolution_backward", 12), "aten::c…ward");
  EXPECT_EQ(short_name("void f()) (", 5), shortened("f()) (", 5));
  for (const char* odd : {"void ", "::()", "()", "void )))(((", "::::::::::::()", "a::b::"})
    for (int cells = 0; cells < 12; ++cells) EXPECT_LE(cells_of(short_name(odd, cells)), cells) << odd;
}

TEST(Names, LinesLoseFoldersFirst) {
  const char* line = "/workspace/quill/models/block.py(48): forward";
  EXPECT_EQ(short_name(line, 45), line);
  EXPECT_EQ(short_name(line, 44), "…/quill/models/block.py(48): forward");
  EXPECT_EQ(short_name(line, 30), "…/models/block.py(48): forward");
  EXPECT_EQ(short_name(line, 29), "…/block.py(48): forward");
  EXPECT_EQ(short_name(line, 22), "block.py(48): forward");
  EXPECT_EQ(short_name(line, 12), shortened("block.py(48): forward", 12));
  EXPECT_EQ(cells_of_line(line), 21);
  EXPECT_EQ(cells_of_line("block.py(48)"), 12);
  for (const char* other : {"aten::add", "f(3)", "a.b(c)", "<a.cu(3", ""})
    EXPECT_EQ(cells_of_line(other), 0) << other;
  EXPECT_EQ(short_name("/a/train.py(7): step;/a/b/model.py(3): f;at::empty", 50),
            "/a/train.py(7): step;/a/b/model.py(3): f;at::empty");
  EXPECT_EQ(short_name("/a/train.py(7): step;/a/b/model.py(3): f;at::empty", 45),
            "train.py(7): step;model.py(3): f;at::empty");
}

TEST(Bar, HasEighthsAndShowsTheSmallest) {
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 1), "▌");
  EXPECT_EQ(bar(1e-9, 10), "▏");
  EXPECT_EQ(bar(0, 10), "");
  EXPECT_EQ(bar(-1, 10), "");
  EXPECT_EQ(bar(7, 2), "██");
}

TEST(Bar, PartsAddUpToTheWhole) {
  EXPECT_EQ(cells_per_part({50, 30, 20}, 100, 10), (std::vector<int>{5, 3, 2}));
  EXPECT_EQ(cells_per_part({98.9, 0.1, 1}, 100, 10), (std::vector<int>{9, 0, 1}));
  EXPECT_EQ(cells_per_part({1, 1, 1}, 6, 10), (std::vector<int>{2, 2, 1}));
  EXPECT_EQ(cells_per_part({0, 0}, 0, 10), (std::vector<int>{0, 0}));
  for (int cells = 1; cells < 90; ++cells) {
    int sum = 0;
    for (const int part : cells_per_part({98.6, 2.1, 0.03, 0, 3.9, 59.3, 12.5, 1.6}, 178.03, cells))
      sum += part;
    EXPECT_EQ(sum, cells);
  }
}

}  // namespace
}  // namespace stepscope::report
