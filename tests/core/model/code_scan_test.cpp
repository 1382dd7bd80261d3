#include "core/model/code_scan.h"

#include <gmock/gmock.h>

using ulpscope::model::scanCode;
using testing::HasSubstr;

namespace {

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(CodeScan, AcceptsOrdinaryCode) {
  EXPECT_TRUE(scanCode("class Net(Module):\n  __parameters__ = [\"weight\", ]\n  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n"
                       "    _0 = uninitialized(Tensor)\n    if bool(torch.gt(torch.sum(x), 0)):\n      _1 = (self.fc).forward(x, )\n"
                       "    else:\n      _1 = x\n    return _1\n").ok());
  EXPECT_TRUE(scanCode("").ok());
}

TEST(CodeScan, AcceptsLongFlatCode) {
  EXPECT_TRUE(scanCode("x = [" + repeated("-1.5e-3, ", 100000) + "]\n").ok());
  EXPECT_TRUE(scanCode(repeated("x = torch.add(x, y, alpha=1)\n", 100000)).ok());
  EXPECT_TRUE(scanCode(repeated("def f():\n  if a:\n    b = (c)\n", 20000)).ok());
  EXPECT_TRUE(scanCode("x = f(" + repeated("g(a + b, c), ", 50000) + ")\n").ok());
}

TEST(CodeScan, AcceptsBracketsInsideStringsAndComments) {
  EXPECT_TRUE(scanCode("x = \"" + repeated("(", 5000) + "\"\n").ok());
  EXPECT_TRUE(scanCode("x = '\\'" + repeated("[", 5000) + "'\n").ok());
  EXPECT_TRUE(scanCode("x = \"\"\"\n" + repeated("{\n", 5000) + "\"\"\"\n").ok());
  EXPECT_TRUE(scanCode("# " + repeated("(", 5000) + "\nx = 1\n").ok());
}

TEST(CodeScan, RefusesEverythingThatRecurses) {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"brackets", "x = " + repeated("(", 1500) + repeated(")", 1500)},
      {"brackets of all kinds", "x = " + repeated("([{", 500)},
      {"brackets over lines", "x = " + repeated("(\n", 1500)},
      {"unary minus", "x = " + repeated("-", 1500) + "a"},
      {"not", "x = " + repeated("not ", 1500) + "a"},
      {"sums", "x = a" + repeated(" + a", 1500)},
      {"sums over lines in brackets", "x = (a" + repeated(" +\n a", 1500) + ")"},
      {"sums over continued lines", "x = a" + repeated(" + \\\n a", 1500)},
      {"attributes", "x = a" + repeated(".b", 1500)},
      {"calls of calls", "x = f" + repeated("()", 1500)},
      {"subscripts", "x = f" + repeated("[0]", 1500)},
      {"conditions", "x = " + repeated("a if b else ", 1500) + "a"},
      {"brackets and sums mixed", "x = " + repeated("(a + ", 700)},
      {"elif", "if a:\n  x = 1\n" + repeated("elif b:\n  x = 1\n", 1500)},
      {"type comments", "x = []  # type: " + repeated("List[", 1500)},
      {"string that hides nothing", "x = 'a'" + repeated("(", 1500)},
      {"unfinished string", "x = 'a\ny = " + repeated("(", 1500)}};
  for (const auto& [name, code] : cases) {
    const auto status = scanCode(code + "\n");
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_THAT(status.error().message(), HasSubstr("line ")) << name;
  }
}

TEST(CodeScan, RefusesDeepIndentation) {
  std::string code;
  for (int depth = 0; depth < 1500; ++depth) code += std::string(static_cast<std::size_t>(depth), ' ') + "if a:\n";
  const auto status = scanCode(code);
  ASSERT_FALSE(status.ok());
  // 1000 blocks and the `if` itself.
  EXPECT_EQ(status.error().which, "line 1001");
}

}  // namespace
