#include "interfaces/kernel_folder/python_modules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::python_modules_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class PythonModules : public ::testing::Test {
  protected:
    fs::path write(const std::string& name, const std::string& text = "") const {
        const fs::path file = folder_.path() / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file;
    }
    std::vector<std::string> of(const std::string& text) const {
        std::vector<std::string> names;
        for (const fs::path& file : kernel_folder::python_modules(write("main/reference.py", text)))
            names.push_back(fs::relative(file, fs::canonical(folder_.path())).string());
        return names;
    }
    test::EnvironmentVariable no_path_{"PYTHONPATH", std::nullopt};
    TemporaryFolder folder_;
};

TEST_F(PythonModules, AreFoundHoweverTheyAreImported) {
    for (const char* name : {"a", "b", "c"}) write("main/" + std::string(name) + ".py");
    EXPECT_THAT(of("import a\n"), ElementsAre("main/a.py"));
    EXPECT_THAT(of("import numpy as b, c as x, a\n"), ElementsAre("main/c.py", "main/a.py"));
    EXPECT_THAT(of("def f():\n    try: from a import x, y\n    except ImportError: import b;import c\n"),
                ElementsAre("main/a.py", "main/b.py", "main/c.py"));
    EXPECT_THAT(of("import os, \\\n  b\nfrom c import (x,\n  y) # import a\n"), ElementsAre("main/b.py", "main/c.py"));
    EXPECT_THAT(of("import importlib\nm = importlib.import_module('a')\nn = __import__(\"c\")\n"), ElementsAre("main/a.py", "main/c.py"));
    EXPECT_THAT(of("from . import a\n"), ElementsAre("main/a.py"));
    EXPECT_THAT(of("imports = 'a'\nimport_a = 1\n"), IsEmpty());
}

TEST_F(PythonModules, LeadOnToOthersAndToPackages) {
    write("main/a.py", "import a, package.inner\n");
    write("main/package/__init__.py", "from .other import *\n");
    write("main/package/other.py");
    write("main/package/inner.py", "from .. import sibling\nfrom . import third\n");
    write("main/package/third.so");
    write("main/sibling.py");
    EXPECT_THAT(of("import a\n"), ElementsAre("main/a.py", "main/package/__init__.py", "main/package/other.py", "main/package/inner.py",
                                              "main/sibling.py", "main/package/third.so"));
}

TEST_F(PythonModules, AreLookedForOnPythonsPathButNotAmongWhatIsInstalled) {
    write("path/a.py");
    write("lib/site-packages/b.py");
    const test::EnvironmentVariable path{"PYTHONPATH", (folder_.path() / "path").string() + ":" + (folder_.path() / "lib/site-packages").string()};
    EXPECT_THAT(of("import a, b\n"), ElementsAre("path/a.py"));
}

}  // namespace
}  // namespace hone::python_modules_test
