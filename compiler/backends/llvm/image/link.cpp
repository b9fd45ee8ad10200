// compiler/backends/llvm/image/link.cpp - an object to one flat image.

#include "compiler/backends/llvm/image/link.h"

#include "formulas/diagnostic.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/JITLink/aarch64.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>
#include <llvm/ExecutionEngine/Orc/SymbolStringPool.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace tilefold::llvm_backend {
namespace {

namespace jit = llvm::jitlink;

/// The image pretends to lie here while fixups are applied; only distances
/// survive in it.
constexpr std::uint64_t base = 0x100000000;

/// Lays all segments behind what the image holds and keeps the bytes.
class FlatMemory : public jit::JITLinkMemoryManager {
public:
    explicit FlatMemory(Image& image) : image_(image) {}

    using JITLinkMemoryManager::allocate;
    void allocate(const jit::JITLinkDylib*, jit::LinkGraph& graph,
                  OnAllocatedFunction done) override {
        jit::BasicLayout layout(graph);
        const std::uint64_t begin = image_.code.size();
        std::uint64_t end = begin;
        for (auto& entry : layout.segments())
            end = after(entry.second, end);
        image_.code.resize(end);
        end = begin;
        for (auto& entry : layout.segments()) {
            auto& segment = entry.second;
            const std::uint64_t start = llvm::alignTo(end, segment.Alignment);
            segment.WorkingMem =
                reinterpret_cast<char*>(image_.code.data()) + start;
            segment.Addr = llvm::orc::ExecutorAddr(base + start);
            end = after(segment, end);
        }
        if (llvm::Error error = layout.apply())
            return done(std::move(error));
        done(std::make_unique<Kept>());
    }

    void deallocate(std::vector<FinalizedAlloc> allocations,
                    OnDeallocatedFunction done) override {
        for (FinalizedAlloc& allocation : allocations)
            allocation.release();
        done(llvm::Error::success());
    }

private:
    struct Kept : InFlightAlloc {
        void abandon(OnAbandonedFunction done) override {
            done(llvm::Error::success());
        }
        void finalize(OnFinalizedFunction done) override {
            done(FinalizedAlloc(llvm::orc::ExecutorAddr(1)));
        }
    };

    template <class Segment>
    static std::uint64_t after(const Segment& segment, std::uint64_t end) {
        return llvm::alignTo(end, segment.Alignment) + segment.ContentSize +
               segment.ZeroFillSize;
    }

    Image& image_;
};

/// One link: no symbols from outside the image, errors kept as text.
class FlatLink : public jit::JITLinkContext {
public:
    FlatLink(Image& image, std::string& error)
        : JITLinkContext(nullptr), image_(image), error_(error),
          memory_(image) {}

    jit::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
    void notifyFailed(llvm::Error error) override {
        error_ = llvm::toString(std::move(error));
    }
    void
    lookup(const LookupMap& names,
           std::unique_ptr<jit::JITLinkAsyncLookupContinuation> done) override {
        jit::AsyncLookupResult known;
        std::string missing;
        for (const auto& [name, flags] : names) {
            (void)flags;
            const auto found = image_.functions.find((*name).str());
            if (found == image_.functions.end())
                missing += " " + (*name).str();
            else
                known[name] = {llvm::orc::ExecutorAddr(base + found->second),
                               llvm::JITSymbolFlags::Exported};
        }
        if (missing.empty())
            done->run(std::move(known));
        else
            done->run(llvm::make_error<llvm::StringError>(
                "undefined:" + missing, llvm::inconvertibleErrorCode()));
    }
    /// Calls reach one another without tables, which would hold addresses.
    bool shouldAddDefaultTargetPasses(const llvm::Triple&) const override {
        return false;
    }
    llvm::Error modifyPassConfig(jit::LinkGraph&,
                                 jit::PassConfiguration& passes) override {
        passes.PrePrunePasses.push_back(jit::markAllSymbolsLive);
        return llvm::Error::success();
    }
    llvm::Error notifyResolved(jit::LinkGraph& graph) override {
        for (jit::Symbol* symbol : graph.defined_symbols())
            if (symbol->hasName() && symbol->getScope() != jit::Scope::Local)
                image_.functions[(*symbol->getName()).str()] =
                    symbol->getAddress().getValue() - base;
        return check_fixups(graph);
    }
    void
    notifyFinalized(jit::JITLinkMemoryManager::FinalizedAlloc kept) override {
        kept.release();
    }

private:
    static bool is_absolute_x86(jit::Edge::Kind kind) {
        return kind == jit::x86_64::Pointer64 ||
               kind == jit::x86_64::Pointer32 ||
               kind == jit::x86_64::Pointer32Signed;
    }
    static bool is_absolute_arm(jit::Edge::Kind kind) {
        return kind == jit::aarch64::Pointer64 ||
               kind == jit::aarch64::Pointer32 ||
               kind == jit::aarch64::MoveWide16;
    }
    /// An absolute address in the image would be wrong wherever it is mapped.
    static llvm::Error check_fixups(jit::LinkGraph& graph) {
        const bool is_arm = graph.getTargetTriple().isAArch64();
        for (jit::Block* block : graph.blocks())
            for (const jit::Edge& edge : block->edges())
                if (is_arm ? is_absolute_arm(edge.getKind())
                           : is_absolute_x86(edge.getKind()))
                    return llvm::make_error<llvm::StringError>(
                        "absolute address in the image",
                        llvm::inconvertibleErrorCode());
        return llvm::Error::success();
    }

    Image& image_;
    std::string& error_;
    FlatMemory memory_;
};

} // namespace

void link_flat(llvm::ArrayRef<char> object, Image& image) {
    const llvm::MemoryBufferRef buffer({object.data(), object.size()},
                                       "kernel");
    // Names that the lookup holds outlive the graph, which ends within it.
    const auto names = std::make_shared<llvm::orc::SymbolStringPool>();
    auto graph = jit::createLinkGraphFromObject(buffer, names);
    if (!graph)
        internal_error(llvm::toString(graph.takeError()));
    std::string error;
    jit::link(std::move(*graph), std::make_unique<FlatLink>(image, error));
    if (!error.empty())
        internal_error("linking a kernel: " + error);
}

} // namespace tilefold::llvm_backend
