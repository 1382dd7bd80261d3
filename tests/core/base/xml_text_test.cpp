#include "core/base/xml_text.h"

#include "core/base/axis_text.h"

#include <gtest/gtest.h>

namespace ulpscope::base {
namespace {

TEST(XmlText, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(xmlText("<script>alert(\"a\" & 'b')</script>"), "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;");
  EXPECT_EQ(xmlText("]]>"), "]]&gt;");
}

TEST(XmlText, KeepsEveryLanguageAndReplacesWhatIsNoCharacterOfXml) {
  EXPECT_EQ(xmlText("שלום 🙂 ação"), "שלום 🙂 ação");
  EXPECT_EQ(xmlText(std::string("a\0b\x1b[31m\tc\n", 11)), "a b [31m\tc\n");
  EXPECT_EQ(xmlText("\xEF\xBF\xBE"), "\xEF\xBF\xBD");  // U+FFFE
}

// What Python's bytes.decode("utf-8", "replace") refuses as well.
TEST(XmlText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(validUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(validUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  EXPECT_EQ(validUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(validUtf8("x\xE2\x82"), "x\xEF\xBF\xBD\xEF\xBF\xBD");         // cut off
  EXPECT_EQ(validUtf8("\xF4\x90\x80\x80").find('\xF4'), std::string::npos);  // beyond U+10FFFF
  EXPECT_EQ(validUtf8(""), "");
}

TEST(AxisText, RaisesExponents) {
  EXPECT_EQ(decadeText(1e-3), "10⁻³");
  EXPECT_EQ(decadeText(-1e12), "−10¹²");
  EXPECT_EQ(powerOfTwoText(-14), "2⁻¹⁴");
  EXPECT_EQ(powerOfTwoText(0), "2⁰");
}

}  // namespace
}  // namespace ulpscope::base
