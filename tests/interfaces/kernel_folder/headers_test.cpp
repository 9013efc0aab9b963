#include "interfaces/kernel_folder/headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/kernel_hash.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::headers_test {
namespace {

namespace fs = std::filesystem;
using kernel_folder::Headers;
using test::EnvironmentVariable;
using testing::HasSubstr;
using testing::Not;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

class HeadersTest : public ::testing::Test {
  protected:
    std::string in_place(const std::string& text) { return Headers(folder()).in_place(text, "kernel", false); }
    std::string why_not(const std::string& text) {
        try {
            in_place(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
    // What a compiler makes of it, in a folder that has none of the headers.
    std::string preprocessed(const std::string& text) {
        const std::string compiler = find_program("c++");
        write(elsewhere_.path() / "x.cpp", Headers(folder()).in_place(text, "kernel", true));
        const ProcessResult result = run_process({compiler, "-E", "-P", "-w", (elsewhere_.path() / "x.cpp").string()}, 60);
        EXPECT_TRUE(result.ok()) << result.output;
        std::string tokens;
        for (const char c : result.output)
            if (c != '\n' && c != ' ') tokens += c;
        return tokens;
    }
    fs::path folder() const { return folder_.path(); }

    EnvironmentVariable no_path_{"CPATH", std::nullopt};
    EnvironmentVariable no_other_path_{"CPLUS_INCLUDE_PATH", std::nullopt};
    TemporaryFolder folder_, elsewhere_;
};

TEST_F(HeadersTest, OfTheFolderStandInPlace) {
    write(folder() / "a.h", "#include \"sub/b.h\"\na");
    write(folder() / "sub/b.h", "#include \"c.h\"\n");
    write(folder() / "sub/c.h", "c\n");
    EXPECT_EQ(in_place("#include \"a.h\"\nend\n"), "c\na\nend\n");
    EXPECT_EQ(in_place("#include <a.h>\n"), "c\na\n");
    EXPECT_EQ(in_place("#include <vector>\n#include \"absent.h\"\n"), "#include <vector>\n#include \"absent.h\"\n");
}

TEST_F(HeadersTest, OfAbsolutePathsAndOfTheEnvironmentStandInPlace) {
    write(elsewhere_.path() / "far.h", "#include \"near.h\"\nfar\n");
    write(elsewhere_.path() / "near.h", "near\n");
    EXPECT_EQ(in_place("#include \"" + (elsewhere_.path() / "far.h").string() + "\"\n"), "near\nfar\n");
    EXPECT_EQ(in_place("#include <far.h>\n"), "#include <far.h>\n");
    for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
        const EnvironmentVariable listed{name, "/absent:" + elsewhere_.path().string()};
        EXPECT_EQ(in_place("#include <far.h>\n"), "near\nfar\n");
        write(elsewhere_.path() / "vector", "mine\n");
        EXPECT_EQ(in_place("#include <vector>\n"), "#include <vector>\n") << "the compiler's own";
    }
}

TEST_F(HeadersTest, MeanWhatTheCompilerMakesOfThem) {
    write(folder() / "once.h", "#pragma once\n#include \"guarded.h\"\nonce;");
    write(folder() / "guarded.h", "// text\n#ifndef GUARD\n#define GUARD\n#include \"once.h\"\nguarded;\n#else\n#endif\n");
    write(folder() / "plain.h", "#ifndef PLAIN\n#define PLAIN\n#include \"once.h\"\nplain;\n#endif\n");
    write(folder() / "list.h", "ITEM(1) ITEM(2)\n");
    EXPECT_EQ(preprocessed("#include \"once.h\"\n#include \"once.h\"\n#include \"plain.h\"\n#include \"plain.h\"\n"), "guarded;once;plain;");
    EXPECT_EQ(preprocessed("#ifdef ABSENT\n#include \"plain.h\"\n#else\n#include \"plain.h\"\n#endif\n#include \"plain.h\"\n"),
              "guarded;once;plain;");
    EXPECT_EQ(preprocessed("#if 0\n#include \"once.h\"\n#endif\n#include \"once.h\"\n"), "guarded;once;");
    EXPECT_EQ(preprocessed("#define ITEM(x) a##x\n#include \"list.h\"\n#undef ITEM\n#define ITEM(x) b##x\n#include \"list.h\"\n"), "a1a2b1b2");
    EXPECT_EQ(preprocessed("#if __has_include(\"list.h\") && !__has_include(\"no.h\")\nyes\n#endif\n__LINE__"), "yes4");
    EXPECT_EQ(preprocessed("\n#include \"once.h\"\n__LINE__ __FILE__\n"), "guarded;once;3\"kernel\"");
}

TEST_F(HeadersTest, ThatNobodyCanNameAreRefusedWithTheirLine) {
    write(folder() / "self.h", "#include \"self.h\"\n");
    write(folder() / "far.h", "\n#include FAR\n");
    EXPECT_THAT(why_not("\n#include \"self.h\"\n"), HasSubstr("self.h:1: self.h includes itself"));
    EXPECT_THAT(why_not("#define H \"far.h\"\n#include H\n"), HasSubstr("kernel:2: '#include H' does not say which file it reads"));
    EXPECT_THAT(why_not("#include \"far.h\"\n"), HasSubstr("far.h:2: "));
    EXPECT_THAT(why_not("#include_next <far.h>\n"), HasSubstr("#include_next"));
    fs::create_symlink("/etc/shadow-that-is-absent", folder() / "link.h");
    EXPECT_EQ(why_not("#include \"link.h\"\n"), "") << "the compiler says that it is absent";
}

// A folder whose kernels and reference read headers.
class FolderWithHeaders : public HeadersTest {
  protected:
    void SetUp() override {
        fs::copy(test::source_path("examples/kernels/jacobi"), path_);
        for (const char* file : {"kernel.cpp", "kernel.cu", "reference.cpp"}) {
            const std::string text = contents(path_ / file);
            write(path_ / file, "#include \"factor.h\"\n" + text);
        }
        write(path_ / "factor.h", "#include \"" + far_.string() + "\"\n#include <listed.h>\n#define FACTOR 1\n");
        write(far_, "#define FAR 1\n");
        write(elsewhere_.path() / "path/listed.h", "#define LISTED 1\n");
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }
    static std::string contents(const fs::path& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    struct Identity {
        std::string family, host, cuda;
        bool cached = false;
    };
    Identity identity() {
        const KernelFolder kernel(path_);
        const Families families({kernel.family()});
        const Problem problem = families.parse_problem("jacobi size=9");
        const auto text = [&](const Limits& limits) {
            return kernel.family().kernel(problem, kernel.family().space(problem, limits).safe(), limits);
        };
        const KernelSource host = text(backend_->device().limits);
        const CompileOutcome compiled = backend_->compiler().compile(host);
        EXPECT_TRUE(compiled.ok) << compiled.failure << compiled.code.log;
        return {kernel.family().name, kernel_hash(host.text), kernel_hash(text(cuda_limits(90)).text), compiled.code.from_cache};
    }

    fs::path path_ = elsewhere_.path() / "jacobi", far_ = elsewhere_.path() / "else/far.h";
    EnvironmentVariable listed_{"CPATH", (elsewhere_.path() / "path").string()};
    DiskCache cache_{elsewhere_.path() / "cache"};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(FolderWithHeaders, IsAnotherKernelWhenAnyOfThemChanges) {
    const Identity first = identity();
    EXPECT_FALSE(first.cached);
    const Identity again = identity();
    EXPECT_EQ(again.family, first.family);
    EXPECT_TRUE(again.cached);
    const std::vector<std::pair<fs::path, std::string>> changes{
        {path_ / "factor.h", "FACTOR"}, {far_, "FAR"}, {elsewhere_.path() / "path/listed.h", "LISTED"}};
    for (const auto& [file, name] : changes) {
        const std::string before = contents(file);
        write(file, before + "inline int more_" + name + "() { return 2; }\n");
        const Identity changed = identity();
        EXPECT_NE(changed.family, first.family) << file;
        EXPECT_NE(changed.host, first.host) << file;
        EXPECT_NE(changed.cuda, first.cuda) << file;
        EXPECT_FALSE(changed.cached) << file;
        write(file, before);
        EXPECT_TRUE(identity().cached) << "back again";
    }
}

TEST_F(FolderWithHeaders, IsAnotherKernelWhenItsLibraryOrAPythonModuleChanges) {
    const auto with = [&](const std::string& reference) {
        std::string text = contents(path_ / "family.json");
        const std::string former = R"({"source": "reference.cpp"})";
        ASSERT_NE(text.find(former), std::string::npos);
        write(path_ / "family.json", text.replace(text.find(former), former.size(), reference));
    };
    const std::string described = contents(path_ / "family.json");
    const auto name = [&] { return KernelFolder(path_).family().name; };
    with(R"({"library": "lib.so"})");
    write(path_ / "lib.so", "one");
    std::string before = name();
    write(path_ / "lib.so", "two");
    EXPECT_NE(name(), before);
    write(path_ / "family.json", described);
    with(R"({"python": "reference.py"})");
    write(path_ / "reference.py", "import helper\n");
    write(path_ / "helper.py", "from package import deep\n");
    write(path_ / "package/__init__.py", "");
    for (const char* file : {"reference.py", "helper.py", "package/__init__.py", "package/deep.py"}) {
        before = name();
        write(path_ / file, contents(path_ / file) + "x = 1\n");
        EXPECT_NE(name(), before) << file;
    }
}

TEST_F(FolderWithHeaders, RefusesAReferenceThatChangedOrReadsWhatNobodyHashed) {
    if (find_program("python3").empty()) GTEST_SKIP() << "there is no python3";
    std::string text = contents(path_ / "family.json");
    const std::string former = R"({"source": "reference.cpp"})";
    write(path_ / "family.json", text.replace(text.find(former), former.size(), R"({"python": "reference.py"})"));
    write(path_ / "reference.py", "import helper\ndef reference(next):\n    helper.put(next)\n");
    write(path_ / "helper.py", "def put(next):\n    next[1, 1] = 5\n");
    write(elsewhere_.path() / "hidden/secret.py", "");
    const auto why = [&](const KernelFolder& kernel) -> std::string {
        const Problem problem = Families({kernel.family()}).parse_problem("jacobi size=1");
        std::vector<double> u(9), f(9), next(9);
        try {
            kernel.family().reference(problem, std::vector<void*>{u.data(), f.data(), next.data()}, 0, 1);
        } catch (const Error& error) {
            return error.what();
        }
        return next[4] == 5 ? "" : "it did not run";
    };
    EXPECT_EQ(why(KernelFolder(path_)), "");
    const KernelFolder read_before(path_);
    write(path_ / "helper.py", "def put(next):\n    next[1, 1] = 6\n");
    EXPECT_THAT(why(read_before), HasSubstr("helper.py has changed since it was read"));
    write(path_ / "helper.py",
          "import sys\nsys.path.insert(0, '" + (elsewhere_.path() / "hidden").string() + "')\nimport secret\ndef put(next):\n    next[1, 1] = 5\n");
    EXPECT_THAT(why(KernelFolder(path_)), HasSubstr("it imports secret from "));
}

TEST_F(FolderWithHeaders, UsesTheLibraryThatIsThereNow) {
    std::string text = contents(path_ / "family.json");
    const std::string former = R"({"source": "reference.cpp"})";
    write(path_ / "family.json", text.replace(text.find(former), former.size(), R"({"library": "libr.so"})"));
    const auto value = [&](int number) {
        write(elsewhere_.path() / "r.cpp",
              "extern \"C\" void reference(const double*, const double*, double* next, int) { next[4] = " + std::to_string(number) + "; }\n");
        const fs::path fresh = elsewhere_.path() / ("built" + std::to_string(number));
        const ProcessResult built =
            run_process({find_program("c++"), "-shared", "-fPIC", "-o", fresh.string(), (elsewhere_.path() / "r.cpp").string()}, 60);
        EXPECT_TRUE(built.ok()) << built.output;
        fs::rename(fresh, path_ / "libr.so");
        const KernelFolder kernel(path_);
        std::vector<double> u(9), f(9), next(9);
        kernel.family().reference(Families({kernel.family()}).parse_problem("jacobi size=1"), std::vector<void*>{u.data(), f.data(), next.data()}, 0,
                                  1);
        return next[4];
    };
    EXPECT_EQ(value(3), 3);
    EXPECT_EQ(value(4), 4) << "under the same path in one process";
}

}  // namespace
}  // namespace hone::headers_test
