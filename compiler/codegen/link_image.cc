// SPDX-License-Identifier: MIT
// Linking at a fictitious address.
//
// The passes that JITLink would add on its own are replaced by three: keep what the exported functions reach, build
// the import slots ("GOT") with stubs for calls to them, and refuse whatever is not position-independent. JITLink's own
// shortening of such calls is left out, since it depends on where the imports lie.
#include "compiler/codegen/link_image.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/flat_image.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/ExecutionEngine/JITLink/ELF_x86_64.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/x86_64.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon::codegen {
namespace {

namespace jitlink = llvm::jitlink;
using llvm::orc::MemProt;

// Any page address does: what the image holds are distances. Not zero, which JITLink takes as "no address yet".
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

llvm::Error link_error(const std::string& what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "flat image: " + what);
}

bool allows(MemProt protection, MemProt what) {
  return (static_cast<unsigned>(protection) & static_cast<unsigned>(what)) != 0;
}

std::string text_of(llvm::StringRef name) { return name.empty() ? std::string("(no name)") : name.str(); }

// What one link yields; owned by link_object and filled in by the memory manager and the context.
struct LinkResult {
  std::vector<char> memory;
  std::size_t text_size = 0;
  std::size_t size = 0;
  std::vector<std::pair<std::string, std::uint32_t>> symbols;
  std::vector<FlatImage::Import> imports;
  llvm::Error error = llvm::Error::success();
};

// One buffer: executable segments first, then, on the next page, what is only read.
class ImageMemory final : public jitlink::JITLinkMemoryManager {
 public:
  explicit ImageMemory(LinkResult& result) : result_(result) {}

  void allocate(const jitlink::JITLinkDylib*, jitlink::LinkGraph& graph, OnAllocatedFunction on_allocated) override {
    jitlink::BasicLayout layout(graph);
    place(layout);
    if (result_.size >= kMaxImagePart) return on_allocated(link_error("too large"));
    result_.memory.assign(result_.size, 0);
    for (auto& [group, segment] : layout.segments())
      segment.WorkingMem = result_.memory.data() + (segment.Addr.getValue() - kBase);
    if (llvm::Error error = layout.apply()) return on_allocated(std::move(error));
    on_allocated(std::make_unique<Allocation>());
  }

  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction on_deallocated) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();
    on_deallocated(llvm::Error::success());
  }

 private:
  struct Allocation final : InFlightAlloc {
    void abandon(OnAbandonedFunction on_abandoned) override { on_abandoned(llvm::Error::success()); }
    void finalize(OnFinalizedFunction on_finalized) override {
      on_finalized(FinalizedAlloc(llvm::orc::ExecutorAddr(kBase)));
    }
  };

  void place(jitlink::BasicLayout& layout) {
    std::size_t end = 0;
    for (const bool executable : {true, false}) {
      for (auto& [group, segment] : layout.segments()) {
        const bool is_text = allows(group.getMemProt(), MemProt::Exec);
        if (is_text != executable) continue;
        end = llvm::alignTo(end, segment.Alignment);
        segment.Addr = llvm::orc::ExecutorAddr(kBase + end);
        end += segment.ContentSize + segment.ZeroFillSize;
      }
      if (executable) {
        result_.text_size = end;
        end = FlatImage::data_offset(end);
      }
    }
    result_.size = std::max(end, result_.text_size);
  }

  LinkResult& result_;
};

llvm::Error keep_exports(jitlink::LinkGraph& graph) {
  for (jitlink::Symbol* symbol : graph.defined_symbols()) {
    if (symbol->hasName() && symbol->getScope() == jitlink::Scope::Default) symbol->setLive(true);
  }
  return llvm::Error::success();
}

// Gives each import a slot and a stub in order of name: left to JITLink, their order would be that of hashed pointers.
llvm::Error build_import_slots(jitlink::LinkGraph& graph) {
  std::map<std::string, jitlink::Symbol*> imports;
  for (jitlink::Symbol* symbol : graph.external_symbols()) imports.emplace(text_of(symbol->getName()), symbol);
  jitlink::x86_64::GOTTableManager slots;
  jitlink::x86_64::PLTTableManager stubs(slots);
  std::uint64_t order = 0;
  for (const auto& [name, symbol] : imports) {
    if (!import_of(name)) return link_error("'" + name + "' may not be imported");
    for (jitlink::Symbol* entry : {&slots.getEntryForTarget(graph, *symbol), &stubs.getEntryForTarget(graph, *symbol)})
      entry->getBlock().setAddress(llvm::orc::ExecutorAddr(order * 8));
    ++order;
  }
  jitlink::visitExistingEdges(graph, slots, stubs);
  return llvm::Error::success();
}

llvm::Error refuse_writable(jitlink::LinkGraph& graph) {
  for (jitlink::Section& section : graph.sections()) {
    const bool writable = allows(section.getMemProt(), MemProt::Write);
    if (writable && !section.empty() && section.getMemLifetime() != llvm::orc::MemLifetime::NoAlloc)
      return link_error("writable section " + text_of(section.getName()));
  }
  return llvm::Error::success();
}

bool is_relative(jitlink::Edge::Kind kind) {
  using namespace jitlink::x86_64;
  switch (kind) {
    case jitlink::Edge::KeepAlive:
    case Delta64:
    case Delta32:
    case Delta8:
    case NegDelta64:
    case NegDelta32:
    case PCRel32:
    case BranchPCRel32:
    case BranchPCRel32ToPtrJumpStub:
    case BranchPCRel32ToPtrJumpStubBypassable:
    case PCRel32GOTLoadRelaxable:
    case PCRel32GOTLoadREXRelaxable:
      return true;
    default:
      return false;
  }
}

// Runs when blocks have addresses: records each import slot and lets only relative references through.
llvm::Error check_references(jitlink::LinkGraph& graph, LinkResult& result) {
  const std::uint64_t data_base = kBase + FlatImage::data_offset(result.text_size);
  for (jitlink::Block* block : graph.blocks()) {
    for (const jitlink::Edge& edge : block->edges()) {
      const jitlink::Symbol& target = edge.getTarget();
      if (target.isDefined() && is_relative(edge.getKind())) continue;
      const std::string name = text_of(target.hasName() ? target.getName() : llvm::StringRef());
      const std::uint64_t at = block->getFixupAddress(edge).getValue();
      const bool is_slot = target.isExternal() && edge.getKind() == jitlink::x86_64::Pointer64 &&
                           edge.getAddend() == 0 && at >= data_base;
      if (!is_slot)
        return link_error("reference to " + name + " is not position-independent (" +
                          graph.getEdgeKindName(edge.getKind()) + ")");
      result.imports.push_back({static_cast<std::uint32_t>(at - data_base), import_of(name).value()});
    }
  }
  return llvm::Error::success();
}

class ImageLink final : public jitlink::JITLinkContext {
 public:
  explicit ImageLink(LinkResult& result) : JITLinkContext(nullptr), result_(result), memory_(result) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  bool shouldAddDefaultTargetPasses(const llvm::Triple&) const override { return false; }

  llvm::Error modifyPassConfig(jitlink::LinkGraph&, jitlink::PassConfiguration& passes) override {
    passes.PrePrunePasses.push_back(keep_exports);
    passes.PostPrunePasses.push_back(refuse_writable);
    passes.PostPrunePasses.push_back(build_import_slots);
    passes.PostAllocationPasses.push_back([this](auto& graph) { return check_references(graph, result_); });
    return llvm::Error::success();
  }

  // Every import lies at zero, so that its slot holds zeros until the loader fills it.
  void lookup(const LookupMap& names, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : names) found[name] = {llvm::orc::ExecutorAddr(), llvm::JITSymbolFlags::Exported};
    next->run(std::move(found));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() != jitlink::Scope::Default) continue;
      const std::uint64_t offset = symbol->getAddress().getValue() - kBase;
      if (offset < result_.text_size)
        result_.symbols.emplace_back(symbol->getName().str(), static_cast<std::uint32_t>(offset));
    }
    return llvm::Error::success();
  }

  void notifyFailed(llvm::Error error) override {
    result_.error = llvm::joinErrors(std::move(result_.error), std::move(error));
  }
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override { allocation.release(); }

 private:
  LinkResult& result_;
  ImageMemory memory_;
};

absl::StatusOr<std::vector<std::byte>> serialize(const LinkResult& result) {
  const auto bytes = std::as_bytes(std::span(result.memory));
  const std::size_t data_offset = std::min(FlatImage::data_offset(result.text_size), bytes.size());
  FlatImage image{bytes.first(result.text_size), bytes.subspan(data_offset), {}, result.imports};
  for (const auto& [name, offset] : result.symbols) image.symbols.push_back({name, offset});
  return serialize_flat_image(std::move(image));
}

absl::StatusOr<std::vector<std::byte>> link_object(llvm::StringRef object) {
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(llvm::MemoryBufferRef(object, "tenon"));
  if (!graph) return absl::InternalError(absl::StrCat("flat image: ", llvm::toString(graph.takeError())));
  LinkResult result;
  llvm::cantFail(std::move(result.error));
  jitlink::link(std::move(*graph), std::make_unique<ImageLink>(result));
  if (result.error) return absl::InternalError(llvm::toString(std::move(result.error)));
  return serialize(result);
}

/// LLVM's passes from IR to a file, but that no constant is moved out of a loop: the formulas have more of them than
/// there are registers, whose allocation then moves a dozen values about in every turn; as memory operands they cost
/// nothing.
bool add_code_generation(llvm::LLVMTargetMachine& machine, llvm::legacy::PassManager& passes,
                         llvm::raw_pwrite_stream& out, llvm::CodeGenFileType kind) {
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  config->setDisableVerify(true);
  config->disablePass(&llvm::EarlyMachineLICMID);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, kind, info->getMMI().getContext())) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

absl::StatusOr<llvm::SmallVector<char, 0>> generate(llvm::Module& module, llvm::TargetMachine& machine,
                                                    llvm::CodeGenFileType kind) {
  // Nothing interposes on an image, so its own symbols are reached directly.
  for (llvm::GlobalValue& global : module.global_values()) {
    if (!global.isDeclaration()) global.setDSOLocal(true);
  }
  llvm::SmallVector<char, 0> out;
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (!add_code_generation(static_cast<llvm::LLVMTargetMachine&>(machine), passes, stream, kind))
    return absl::InternalError("the target cannot write this kind of file");
  passes.run(module);
  return out;
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> link_image(llvm::Module& module, llvm::TargetMachine& machine) {
  auto object = generate(module, machine, llvm::CodeGenFileType::ObjectFile);
  if (!object.ok()) return object.status();
  return link_object(llvm::StringRef(object->data(), object->size()));
}

absl::StatusOr<std::string> print_assembly(llvm::Module& module, llvm::TargetMachine& machine) {
  auto text = generate(module, machine, llvm::CodeGenFileType::AssemblyFile);
  if (!text.ok()) return text.status();
  return std::string(text->data(), text->size());
}

}  // namespace tenon::codegen
