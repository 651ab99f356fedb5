// SPDX-License-Identifier: MIT
// The main of every GoogleTest program: runs the tests over a cache folder of their own, removed at the end.
//
// A test that wants another cache sets TENON_CACHE_DIR itself; one given from outside is left alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

class PrivateCache : public testing::Environment {
 public:
  void SetUp() override {
    if (std::getenv("TENON_CACHE_DIR") != nullptr) return;
    path_ = (std::filesystem::temp_directory_path() / "tenon_test_XXXXXX").string();
    if (::mkdtemp(path_.data()) != nullptr) ::setenv("TENON_CACHE_DIR", path_.c_str(), 1);
  }

  void TearDown() override {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new PrivateCache);
  return RUN_ALL_TESTS();
}
