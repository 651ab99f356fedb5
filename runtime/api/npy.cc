// SPDX-License-Identifier: MIT
// .npy files in and out. Fortran order is read as the transposed tensor and a view of it.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "compiler/ir/text.h"
#include "runtime/api/access.h"
#include "runtime/api/npy_header.h"
#include "runtime/device/cpu/allocator.h"
#include "tenon/functions.h"
#include "tenon/io.h"

namespace tenon {
namespace {

using Location = std::source_location;

/// A file under way, and how its faults are told.
struct File {
  const char* op;
  const std::string& path;
  const Location& call_site;

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorCode::kFile, op, cat(path, ": ", what), call_site);
  }
};

void read_bytes(const File& file, std::ifstream& in, void* out, std::size_t count) {
  in.read(static_cast<char*>(out), static_cast<std::streamsize>(count));
  if (static_cast<std::size_t>(in.gcount()) != count) file.fail("the file ends too early");
}

std::uint64_t size_of_file(const File& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file.path, error);
  if (error) file.fail(error.message());
  return size;
}

/// Length of the dictionary, by the format's version.
std::size_t dictionary_length(const File& file, std::ifstream& in) {
  unsigned char start[8];
  read_bytes(file, in, start, sizeof start);
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) file.fail("this is not a .npy file");
  const int major = start[6];
  if (major < 1 || major > 3) file.fail(cat("format ", major, ".", int{start[7]}, " is not known"));
  unsigned char length[4] = {};
  read_bytes(file, in, length, major == 1 ? 2 : 4);
  return length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 | std::size_t{length[3]} << 24;
}

api::NpyHeader read_header(const File& file, std::ifstream& in, std::uint64_t file_size) {
  const std::size_t length = dictionary_length(file, in);
  if (length > file_size) file.fail("the file ends too early");
  std::string dictionary(length, ' ');
  read_bytes(file, in, dictionary.data(), length);
  absl::StatusOr<api::NpyHeader> header = api::parse_npy_header(dictionary);
  if (!header.ok()) file.fail(std::string(header.status().message()));
  return *std::move(header);
}

device::StorageRef read_elements(const File& file, std::ifstream& in, const TensorType& type, std::uint64_t file_size) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(numel(type.shape)) * size_of(type.dtype);
  const auto left = file_size - static_cast<std::uint64_t>(in.tellg());
  if (bytes != left) file.fail(cat(to_string(type), " has ", bytes, " bytes, and the file holds ", left));
  device::StorageRef storage = device::allocate(bytes);
  if (!storage) throw Error(ErrorCode::kOutOfMemory, file.op, cat("no memory for ", bytes, " bytes"), file.call_site);
  read_bytes(file, in, storage->data, bytes);
  if (type.dtype == DType::kBool) {
    auto* first = static_cast<std::uint8_t*>(storage->data);
    std::transform(first, first + bytes, first, [](std::uint8_t b) { return b != 0; });
  }
  return storage;
}

Tensor reversed_axes(const Tensor& tensor, const Location& call_site) {
  Dims axes(static_cast<std::size_t>(tensor.ndim()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  return permute_dims({tensor, call_site}, axes);
}

/// Where the bytes go: the regular file that the path names or will name, through symbolic links.
std::filesystem::path target_of(const File& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file.path, error);
  if (!std::filesystem::exists(status)) return file.path;
  if (!std::filesystem::is_regular_file(status)) file.fail("this is not a regular file");
  const std::filesystem::path target = std::filesystem::canonical(file.path, error);
  if (error) file.fail(error.message());
  return target;
}

void write_file(const File& file, const std::string& preamble, const void* data, std::size_t bytes) {
  const std::filesystem::path target = target_of(file);
  const std::string part = target.string() + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out.write(preamble.data(), static_cast<std::streamsize>(preamble.size()));
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, target, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    file.fail(error ? error.message() : "cannot be written");
  }
}

}  // namespace

Tensor load(const std::string& path, const Location& call_site) {
  const File file{"load", path, call_site};
  const std::uint64_t file_size = size_of_file(file);
  std::ifstream in(path, std::ios::binary);
  if (!in) file.fail("cannot be opened");
  api::NpyHeader header = read_header(file, in, file_size);
  if (header.is_fortran_order) std::reverse(header.type.shape.begin(), header.type.shape.end());
  device::StorageRef storage = read_elements(file, in, header.type, file_size);
  const Tensor tensor = internal::Access::wrap(trace::make_ready(header.type, std::move(storage), {}, 0));
  return header.is_fortran_order ? reversed_axes(tensor, call_site) : tensor;
}

void save(const std::string& path, const TensorArg& tensor) {
  const trace::TraceNode& node = *internal::Access::node(tensor.tensor().eval(tensor.call_site()));
  const auto bytes = static_cast<std::size_t>(numel(node.type.shape)) * size_of(node.type.dtype);
  const std::byte* data = static_cast<const std::byte*>(node.storage->data) + node.byte_offset;
  write_file({"save", path, tensor.call_site()}, api::npy_preamble(node.type), data, bytes);
}

}  // namespace tenon
