// Text that others wrote, as part of an XML or HTML document.
#pragma once

#include <string>
#include <string_view>

namespace ulpscope::base {

// &, <, > and quotes as entities; control characters that XML 1.0 has not become spaces, bytes that are no UTF-8 the replacement character.
std::string xmlText(std::string_view text);
// The same bytes with what is no UTF-8 replaced by U+FFFD.
std::string validUtf8(std::string_view text);

}  // namespace ulpscope::base
