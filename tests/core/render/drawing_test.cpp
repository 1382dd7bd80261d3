#include "core/render/drawing.h"

#include "core/render/png.h"
#include "core/render/svg.h"
#include "tests/support/python_script.h"

#include <gmock/gmock.h>

namespace ulpscope::render {
namespace {

using testing::HasSubstr;
using testing::Not;

// Python's own zlib reads the pixels back: filter bytes, chunks and CRCs are then right.
constexpr const char* kReadPng = R"(
import struct, zlib
def pixels(path):
    data = open(path, 'rb').read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, idat = 8, b''
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
        if kind == b'IHDR': width, height, depth, colour = struct.unpack('>IIBB', body[:10])
        if kind == b'IDAT': idat += body
        at += 12 + size
    raw, n = zlib.decompress(idat), {2: 3, 6: 4}[colour]
    assert depth == 8
    rows, before = [], bytearray(width * n)
    for y in range(height):
        kind, line = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        for i in range(len(line)):
            a, b, c = line[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth][kind]) & 255
        rows.append([tuple(line[x * n:x * n + n]) for x in range(width)])
        before = line
    return rows
)";

TEST(Png, IsReadBackByPythonPixelByPixel) {
  const tests::ScratchFolder folder;
  tests::writeFile(folder.file("opaque.png"), pngOf(2, 2, {255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 8, 7, 255}));
  tests::writeFile(folder.file("clear.png"), pngOf(1, 1, {1, 2, 3, 4}));
  EXPECT_TRUE(tests::python(folder, std::string(kReadPng) + R"(
assert pixels('opaque.png') == [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (9, 8, 7)]], pixels('opaque.png')
assert pixels('clear.png') == [[(1, 2, 3, 4)]]
)"));
  EXPECT_EQ(pngOf(0, 3, {}), "");
}

TEST(Drawing, TextIsCutInItsMiddleByCharacters) {
  EXPECT_EQ(shortened("encoder.layers.12.attention", 11), "encod…ntion");
  EXPECT_EQ(shortened("ação", 4), "ação");
  EXPECT_EQ(shortened("🙂🙂🙂🙂🙂🙂", 4), "🙂…🙂🙂");
  EXPECT_EQ(shortened("", 4), "");
}

// Expected: DejaVuSans.ttf's advance widths, as Pillow's ImageFont.getlength gives them at 2048 units an em.
TEST(Drawing, MeasuresTextAsDejaVuSansIsWide) {
  EXPECT_NEAR(textWidth("heatmap_head.0", 11), 92.5, 0.6);
  EXPECT_NEAR(textWidth("illi", 10), 11.1, 0.2);
  EXPECT_NEAR(textWidth("WWWW", 10), 39.6, 0.1);
  EXPECT_EQ(textWidth("", 11), 0);
  EXPECT_NEAR(textWidth("módulo", 10), textWidth("modulo", 10), 0.5);
  EXPECT_EQ(textWidth("日本", 10), 20);
}

TEST(Svg, IsWellFormedAndNamesColoursByClass) {
  Drawing drawing{100, 50, {}};
  drawing.shapes.push_back(Box{0, 0, 10, 10, Ink::paper, Ink::line, {}, false});
  drawing.shapes.push_back(Box{0, 0, 10, 10, Ink::none, Ink::none, {1, 2, 255}, true});
  drawing.shapes.push_back(Line{{{0, 0}, {1, 0.25}}, {Ink::bad, 1, Dash::dashed}});
  drawing.shapes.push_back(Line{{{0, 0}}, {Ink::bad, 1}});  // one point is no line
  drawing.shapes.push_back(Signs{Sign::dot, Ink::series, 4, {{5, 5}, {7, 7}}});
  drawing.shapes.push_back(Signs{Sign::hollowDiamond, Ink::finding, 6, {{5, 5}}});
  drawing.shapes.push_back(Words{{1, 2}, "a<b & \"c\"", Ink::text, Anchor::middle, 11, true});
  const auto light = std::make_shared<const std::vector<std::uint8_t>>(std::vector<std::uint8_t>{1, 2, 3, 255}), dark = std::make_shared<const std::vector<std::uint8_t>>(std::vector<std::uint8_t>{9, 2, 3, 255});
  drawing.shapes.push_back(Raster{0, 0, 5, 5, 1, 1, light, light});
  drawing.shapes.push_back(Raster{0, 0, 5, 5, 1, 1, light, dark});
  const std::string svg = svgOf(drawing, "What it <shows>");
  const tests::ScratchFolder folder;
  tests::writeFile(folder.file("a.svg"), svg);
  EXPECT_TRUE(tests::python(folder, R"(
import xml.etree.ElementTree as tree
root = tree.parse('a.svg').getroot()
name = lambda e: e.tag.split('}')[1]
assert [name(e) for e in root] == ['title', 'rect', 'rect', 'path', 'path', 'path', 'text', 'image', 'image', 'image'], [name(e) for e in root]
assert root[0].text == 'What it <shows>' == root.get('aria-label')
assert root.get('role') == 'img'
assert root[6].text == 'a<b & "c"'
assert [e.get('class') for e in root if name(e) == 'image'] == [None, 'light', 'dark']
assert root[2].get('fill') == '#0102ff'
)"));
  EXPECT_THAT(svg, HasSubstr("class=\"f-none s-bad\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace ulpscope::render
