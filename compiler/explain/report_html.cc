// SPDX-License-Identifier: MIT
// The HTML form: the page of compiler/explain/page with the JSON form in it. The build puts the page's files into
// kReportPage*, so that the library needs no files at run time.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/explain/report.h"

namespace tenon {

extern const char kReportPage[], kReportStyle[], kReportScript[];

std::string report_html(const DecisionLog& log, const ProgramIdentity& identity) {
  // "</script>" in a string must not end the element.
  const std::string data = absl::StrReplaceAll(report_json(log, identity), {{"<", "\\u003c"}});
  return absl::StrReplaceAll(kReportPage,
                             {{"{{style}}", kReportStyle}, {"{{data}}", data}, {"{{script}}", kReportScript}});
}

}  // namespace tenon
