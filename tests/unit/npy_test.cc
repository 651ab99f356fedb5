// SPDX-License-Identifier: MIT
// .npy files made by NumPy are read as NumPy means them; what is written is, byte for byte, what NumPy writes; and no
// malformed file does more than throw one line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/api/npy_header.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

std::string fixture(const std::string& name) {
  return std::string(TENON_SOURCE_DIR) + "/tests/unit/npy/" + name + ".npy";
}

std::string read_file(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Npy : public testing::Test {
 protected:
  Npy() : path_((std::filesystem::temp_directory_path() / ("tenon_npy_" + std::to_string(::getpid()))).string()) {}
  ~Npy() override { std::filesystem::remove(path_); }

  const std::string& write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

  std::string path_;
};

template <class T>
void expect_fixture(const std::string& name) {
  const Tensor x = load(fixture(name));
  EXPECT_EQ(x.dtype(), dtype_of<T>);
  EXPECT_EQ(x.shape(), (Dims{2, 3}));
  std::vector<T> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(static_cast<T>(i));
  EXPECT_EQ(x.to_vector<T>(), expected) << name;
}

TEST_F(Npy, ReadsEveryDtype) {
  expect_fixture<bool>("bool");
  expect_fixture<std::int8_t>("int8");
  expect_fixture<std::int16_t>("int16");
  expect_fixture<std::int32_t>("int32");
  expect_fixture<std::int64_t>("int64");
  expect_fixture<std::uint8_t>("uint8");
  expect_fixture<std::uint16_t>("uint16");
  expect_fixture<std::uint32_t>("uint32");
  expect_fixture<std::uint64_t>("uint64");
  expect_fixture<float16>("float16");
  expect_fixture<float>("float32");
  expect_fixture<double>("float64");
}

TEST_F(Npy, ReadsBFloat16AsTwoOpaqueBytes) {
  EXPECT_EQ(load(fixture("bfloat16")).astype(DType::kFloat32).to_vector<float>(), (std::vector<float>{1.5f, -2.0f}));
}

TEST_F(Npy, ReadsOtherFormatsAndShapes) {
  EXPECT_EQ(load(fixture("version2")).to_vector<double>(), (std::vector<double>{1.5, -2.0}));
  EXPECT_EQ(load(fixture("version3")).to_vector<double>(), (std::vector<double>{1.5, -2.0}));
  EXPECT_EQ(load(fixture("zero_d")).item<float>(), 2.5f);
  EXPECT_EQ(load(fixture("vector")).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(load(fixture("empty")).shape(), (Dims{0, 3}));
}

TEST_F(Npy, ReadsFortranOrderAsTheSameValues) {
  const Tensor x = load(fixture("fortran"));
  std::vector<std::int32_t> expected(24);
  for (int i = 0; i < 24; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(x.shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(x.to_vector<std::int32_t>(), expected);
}

TEST_F(Npy, WritesTheBytesThatNumPyWrites) {
  for (const char* name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                           "bfloat16", "float32", "float64", "zero_d", "vector", "empty"}) {
    save(path_, load(fixture(name)));
    EXPECT_EQ(read_file(path_), read_file(fixture(name))) << name;
  }
}

TEST_F(Npy, BFloat16GoesRoundExactly) {
  const Tensor x = asarray<float>({1.5f, -3.0f, 1e30f}).astype(DType::kBFloat16);
  save(path_, x);
  const Tensor y = load(path_);
  EXPECT_EQ(y.dtype(), DType::kBFloat16);
  EXPECT_EQ(y.to_vector<bfloat16>(), x.to_vector<bfloat16>());
}

void expect_refusal(const std::string& path, const std::string& part) {
  try {
    load(path);
    ADD_FAILURE() << part << ": is read";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kFile);
    EXPECT_NE(e.message().find(part), std::string::npos) << e.what();
    EXPECT_EQ(e.message().find('\n'), std::string::npos);
    EXPECT_NE(e.message().find(path), std::string::npos);
  }
}

TEST_F(Npy, SaysWhatIsNotRead) {
  expect_refusal(fixture("big_endian"), "big-endian");
  expect_refusal(fixture("structured"), "structured");
  expect_refusal(fixture("complex"), "dtype");
  expect_refusal("/nowhere/x.npy", "No such file");
  expect_refusal(std::filesystem::temp_directory_path().string(), "");
  expect_refusal(write("PK\3\4 something else"), "not a .npy file");
  expect_refusal(write(""), "ends too early");
  const std::string good = read_file(fixture("float32"));
  expect_refusal(write(good.substr(0, good.size() - 1)), "24 bytes, and the file holds 23");
  expect_refusal(write(good + "x"), "the file holds 25");
  std::string future = good;
  future[6] = 9;
  expect_refusal(write(future), "format 9.0");
}

TEST_F(Npy, FailsToWriteWithOneLine) {
  try {
    save("/nowhere/x.npy", ones({2}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kFile);
    EXPECT_EQ(e.op(), "save");
  }
}

void expect_no_crash(const std::string& path) {
  try {
    load(path).eval();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kFile) << e.what();
  }
}

TEST_F(Npy, TruncationsNeverCrash) {
  for (const char* name : {"float32", "fortran", "version2", "bool"}) {
    const std::string good = read_file(fixture(name));
    for (std::size_t length = 0; length < good.size(); length += 5) expect_refusal(write(good.substr(0, length)), "");
  }
}

TEST_F(Npy, FlippedBitsNeverCrash) {
  const std::string good = read_file(fixture("fortran"));
  for (std::size_t bit = 0; bit < 8 * 80; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    expect_no_crash(write(bad));
  }
}

TEST_F(Npy, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_, std::filesystem::temp_directory_path().string()}) {
    try {
      save(path, ones({2}));
      ADD_FAILURE() << path;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kFile);
      EXPECT_EQ(e.message(), path + ": this is not a regular file");
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(Npy, SymbolicLinksAreFollowed) {
  const std::string link = write("") + ".link";
  std::filesystem::create_symlink(path_, link);
  save(link, asarray({1, 2}));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(load(path_).to_vector<int>(), (std::vector<int>{1, 2}));
  std::filesystem::remove(link);
}

TEST_F(Npy, HeadersThatAreNotDictionariesAreRefused) {
  for (const char* text :
       {"", "{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "{'descr': '<f4", "{'descr' '<f4'}"}) {
    EXPECT_FALSE(api::parse_npy_header(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tenon
