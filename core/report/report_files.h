// A report as files in a folder.
#pragma once

#include "core/report/report_content.h"
#include "core/report/report_document.h"

#include <string>
#include <vector>

namespace ulpscope::report {

enum class Format { html, pdf, json, csv, junit };
// "html,json": each once, in the order of the enumeration. Error kind usage: a word that is none, none at all.
base::Result<std::vector<Format>> formatsFromText(const std::string& text);
std::string name(Format format);
// report.html, report.pdf, report.json, report-sites.csv and report-flips.csv, report-junit.xml.
std::vector<std::string> fileNames(Format format);

struct ReportFile {
  std::string name;
  std::string bytes;
};
// Of all formats but PDF, which the window's program prints.
std::vector<ReportFile> reportFiles(const ReportContent& content, Language language, const std::vector<Format>& formats);

// Whether the files may be written there: the folder is one or can become one, is no session's own, and what stands under the names is a report of
// ours, or empty. Error kind usage names what is in the way.
base::Status checkReportFolder(const std::string& folder, const std::vector<Format>& formats);
// The same of one file.
base::Status checkReportFile(const std::string& path);
// Makes the folder where it is missing, and writes each file whole or not at all. Gives the paths. Errors as storage::writeWholeFile's.
base::Result<std::vector<std::string>> writeReportFiles(const std::string& folder, const std::vector<ReportFile>& files);

}  // namespace ulpscope::report
