// SPDX-License-Identifier: MIT
// The stored form of a flat image, little endian:
//
//   header   magic, version, text size, data size, number of imports, number of symbols, bytes of names, total size
//   imports  {slot, id} each
//   symbols  {offset, end of its name in the names} each
//   names    one after the other
//   text     at the next multiple of 64, zeros between
//   data     at the next multiple of 64, zeros between
//
// There is one valid stored form for an image, so the parser rejects whatever the writer would not have written.
#include "compiler/flat_image.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/status/status.h"

namespace tenon {
namespace {

static_assert(std::endian::native == std::endian::little, "the stored form is copied as it lies in memory");

constexpr std::uint32_t kMagic = 0x4d494e54;  // "TNIM"
constexpr std::size_t kPartAlignment = 64;
constexpr std::size_t kMaxTableEntries = 1 << 16;
constexpr std::size_t kMaxNameBytes = 1 << 22;

struct Header {
  std::uint32_t magic, version, text_size, data_size, imports, symbols, name_bytes, total_size;
};
struct Record {
  std::uint32_t first, second;
};

constexpr std::size_t align_up(std::size_t n) { return (n + kPartAlignment - 1) / kPartAlignment * kPartAlignment; }

// Where each piece lies; sizes are bounded before this is computed, so nothing overflows.
struct Layout {
  explicit Layout(const Header& h)
      : imports(sizeof(Header)),
        symbols(imports + sizeof(Record) * h.imports),
        names(symbols + sizeof(Record) * h.symbols),
        names_end(names + h.name_bytes),
        text(align_up(names_end)),
        text_end(text + h.text_size),
        data(align_up(text_end)),
        total(data + h.data_size) {}
  std::size_t imports, symbols, names, names_end, text, text_end, data, total;
};

absl::Status malformed(std::string_view what) {
  return absl::InvalidArgumentError(std::string("flat image: ").append(what));
}

absl::Status check_header(const Header& h) {
  if (h.magic != kMagic) return malformed("wrong magic");
  if (h.version != kFlatImageVersion) return malformed("another version");
  if (h.text_size == 0 || h.text_size >= kMaxImagePart || h.data_size >= kMaxImagePart) return malformed("part size");
  if (h.imports > kMaxTableEntries || h.symbols > kMaxTableEntries) return malformed("table size");
  if (h.name_bytes > kMaxNameBytes) return malformed("size of names");
  return absl::OkStatus();
}

absl::Status check_imports(const FlatImage& image) {
  std::size_t free_from = 0;
  for (const FlatImage::Import& import : image.imports) {
    if (import.slot % 8 != 0 || import.slot < free_from) return malformed("import slot misplaced");
    free_from = std::size_t{import.slot} + 8;
    if (free_from > image.data.size()) return malformed("import slot beyond the data");
    if (static_cast<std::uint32_t>(import.id) >= kNumImports) return malformed("unknown import");
    if (std::any_of(&image.data[import.slot], &image.data[import.slot] + 8,
                    [](std::byte b) { return b != std::byte{}; }))
      return malformed("import slot already filled");
  }
  return absl::OkStatus();
}

absl::Status check_symbols(const FlatImage& image) {
  std::string_view previous;
  for (const FlatImage::Symbol& symbol : image.symbols) {
    if (symbol.name <= previous) return malformed("symbol names not ascending");
    if (symbol.offset >= image.text.size()) return malformed("symbol beyond the text");
    previous = symbol.name;
  }
  return absl::OkStatus();
}

absl::Status check_image(const FlatImage& image) {
  absl::Status imports = check_imports(image);
  return imports.ok() ? check_symbols(image) : imports;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
}

template <class T>
T read(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void write(std::vector<std::byte>& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

void copy_to(std::vector<std::byte>& bytes, std::size_t offset, const void* from, std::size_t size) {
  if (size != 0) std::memcpy(bytes.data() + offset, from, size);
}

void read_imports(std::span<const std::byte> bytes, const Layout& at, FlatImage& image) {
  for (std::size_t i = 0; i < image.imports.size(); ++i) {
    const auto record = read<Record>(bytes, at.imports + i * sizeof(Record));
    image.imports[i] = {record.first, static_cast<ImportId>(record.second)};
  }
}

absl::Status read_symbols(std::span<const std::byte> bytes, const Layout& at, FlatImage& image) {
  const auto* names = reinterpret_cast<const char*>(bytes.data() + at.names);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < image.symbols.size(); ++i) {
    const auto record = read<Record>(bytes, at.symbols + i * sizeof(Record));
    if (record.second < begin || record.second > at.names_end - at.names) return malformed("name out of range");
    image.symbols[i] = {std::string_view(names + begin, record.second - begin), record.first};
    begin = record.second;
  }
  return begin == at.names_end - at.names ? absl::OkStatus() : malformed("names left over");
}

Header header_of(const FlatImage& image) {
  std::size_t name_bytes = 0;
  for (const FlatImage::Symbol& symbol : image.symbols) name_bytes += symbol.name.size();
  const auto u32 = [](std::size_t n) { return static_cast<std::uint32_t>(std::min<std::size_t>(n, UINT32_MAX)); };
  return {kMagic,
          kFlatImageVersion,
          u32(image.text.size()),
          u32(image.data.size()),
          u32(image.imports.size()),
          u32(image.symbols.size()),
          u32(name_bytes),
          0};
}

void write_tables(const FlatImage& image, const Layout& at, std::vector<std::byte>& out) {
  std::size_t position = at.imports;
  for (const FlatImage::Import& import : image.imports) {
    write(out, position, Record{import.slot, static_cast<std::uint32_t>(import.id)});
    position += sizeof(Record);
  }
  std::size_t name_end = 0;
  for (const FlatImage::Symbol& symbol : image.symbols) {
    copy_to(out, at.names + name_end, symbol.name.data(), symbol.name.size());
    name_end += symbol.name.size();
    write(out, position, Record{symbol.offset, static_cast<std::uint32_t>(name_end)});
    position += sizeof(Record);
  }
}

}  // namespace

std::optional<ImportId> import_of(std::string_view link_name) {
  constexpr std::string_view kNames[kNumImports] = {"memset", "memcpy", "memmove", "fmod", "fmodf", "__truncdfhf2"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), link_name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<ImportId>(found - std::begin(kNames));
}

absl::StatusOr<std::vector<std::byte>> serialize_flat_image(FlatImage image) {
  std::sort(image.symbols.begin(), image.symbols.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(image.imports.begin(), image.imports.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
  Header header = header_of(image);
  if (absl::Status status = check_header(header); !status.ok()) return status;
  if (absl::Status status = check_image(image); !status.ok()) return status;
  const Layout at(header);
  header.total_size = static_cast<std::uint32_t>(at.total);
  std::vector<std::byte> out(at.total);
  write(out, 0, header);
  write_tables(image, at, out);
  copy_to(out, at.text, image.text.data(), image.text.size());
  copy_to(out, at.data, image.data.data(), image.data.size());
  return out;
}

absl::StatusOr<FlatImage> parse_flat_image(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Header)) return malformed("truncated");
  const auto header = read<Header>(bytes, 0);
  if (absl::Status status = check_header(header); !status.ok()) return status;
  const Layout at(header);
  if (at.total != bytes.size() || header.total_size != bytes.size()) return malformed("wrong size");
  if (!all_zero(bytes.subspan(at.names_end, at.text - at.names_end)) ||
      !all_zero(bytes.subspan(at.text_end, at.data - at.text_end)))
    return malformed("padding not zero");
  FlatImage image{bytes.subspan(at.text, header.text_size), bytes.subspan(at.data),
                  std::vector<FlatImage::Symbol>(header.symbols), std::vector<FlatImage::Import>(header.imports)};
  read_imports(bytes, at, image);
  if (absl::Status status = read_symbols(bytes, at, image); !status.ok()) return status;
  if (absl::Status status = check_image(image); !status.ok()) return status;
  return image;
}

}  // namespace tenon
