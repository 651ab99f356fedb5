// SPDX-License-Identifier: MIT
// explain: every decision of a program's compilation, in the form that was asked for.
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/explain/pair_query.h"
#include "runtime/session/explanation.h"
#include "runtime/session/measure.h"
#include "runtime/tool/command.h"
#include "runtime/tool/program_file.h"

namespace tenon::tool {
namespace {

absl::StatusOr<std::string> answer(const DecisionLog& log, const std::string& pair) {
  const std::vector<std::string> names = absl::StrSplit(pair, ',', absl::SkipEmpty());
  if (names.size() != 2) return absl::InvalidArgumentError("--why-not takes two nodes or kernels: --why-not %3,k0");
  const PairAnswer why = why_not(log, names[0], names[1]);
  if (why.code == "NO_SUCH_NODE") return absl::InvalidArgumentError(why.text);
  return absl::StrCat(why.code, ": ", why.text, "\n");
}

absl::StatusOr<std::string> report(const Arguments& arguments, const session::ProgramExplanation& e) {
  const int forms = arguments.has("json") + arguments.has("dot") + arguments.has("html") + arguments.has("why-not");
  if (forms > 1) return absl::InvalidArgumentError("give one of --json, --dot, --html, --why-not");
  if (arguments.has("json")) return report_json(e.log, e.identity);
  if (arguments.has("dot")) return report_dot(e.log);
  if (arguments.has("html")) return report_html(e.log, e.identity);
  if (arguments.has("why-not")) return answer(e.log, arguments.value("why-not"));
  return report_text(e.log, e.identity);
}

absl::Status measure(const LoadedProgram& program, std::vector<KernelRecord>& kernels) {
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    inputs.push_back(static_cast<const std::byte*>(program.inputs[i]->data) + program.input_offsets[i]);
  }
  return session::measure_kernels(program.key_bytes, inputs, program.scalars, kernels).status();
}

absl::Status write_out(const std::string& path, const std::string& text) {
  if (path.empty()) {
    std::cout << text;
    return absl::OkStatus();
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat("cannot write ", path));
}

}  // namespace

int explain_command(const Arguments& arguments) {
  if (arguments.positional.size() != 1) return fail_input("give one program: a .tir file or FILE.json#ID");
  absl::StatusOr<LoadedProgram> program = load_program(arguments.positional[0]);
  if (!program.ok()) return fail(program.status());
  absl::StatusOr<session::ProgramExplanation> e = session::explain_program(program->key_bytes);
  if (!e.ok()) return fail(e.status());
  if (arguments.has("measure")) {
    if (absl::Status status = measure(*program, e->log.kernels); !status.ok()) return fail(status);
  }
  absl::StatusOr<std::string> text = report(arguments, *e);
  if (!text.ok()) return fail(text.status());
  const absl::Status written = write_out(arguments.value("o"), *text);
  return written.ok() ? kOk : fail(written);
}

}  // namespace tenon::tool
