// Private: the parts of the catalogue, each beside the sections that use it.
#pragma once

#include "core/report/phrasebook.h"

#include <span>

namespace ulpscope::report {

std::span<const Phrase> summaryPhrases();   // notices, headline, paragraph, overview
std::span<const Phrase> comparedPhrases();  // what was compared, criteria
std::span<const Phrase> findingPhrases();   // where the runs part, flips, non-finite origins, FP32 regions
std::span<const Phrase> figurePhrases();    // axes, legends and alternatives of pictures
std::span<const Phrase> trainingPhrases();
std::span<const Phrase> closingPhrases();   // limits of what was shown, how to reproduce, words

}  // namespace ulpscope::report
