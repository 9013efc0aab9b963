#include "interfaces/kernel_folder/t1_description.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "generator/families.hpp"
#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "tests/support/community_spaces.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/replay/formats/t1.hpp"

namespace hone::t1_description_test {
namespace {

using testing::HasSubstr;

const std::string family_text =
    R"({"t1": "t1.json", "summary": "of a test", "reference": {"source": "reference.cpp"}, "tolerance": {"value": 0, "reason": "a test"}})";

std::string saxpy() {
    return read_file(test::source_path("examples/kernels/saxpy/saxpy.t1.json"), 1 << 20);
}

// A folder with a T1 file in which one piece is another.
class Folder {
  public:
    explicit Folder(std::string t1, const std::string& piece = "", const std::string& other = "") {
        const std::size_t at = t1.find(piece);
        EXPECT_NE(at, std::string::npos) << piece;
        std::ofstream(path_.path() / "t1.json") << t1.replace(at, piece.size(), other);
        std::ofstream(path_.path() / "family.json") << family_text;
        for (const char* source : {"reference.cpp", "saxpy.cu", "saxpy.c", "convolution_milo.cu"})
            std::ofstream(path_.path() / source) << "// nothing\n";
    }
    std::string error() const {
        try {
            const KernelFolder read(path_.path());
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
    KernelFolder kernel() const { return KernelFolder(path_.path()); }
    void write(const std::string& file, const std::string& text) const { std::ofstream(path_.path() / file) << text; }

  private:
    TemporaryFolder path_;
};

// What hone makes of a T1 file has the members that a reader of the format has, but for those that
// the device cannot launch.
void expect_members_of(const KernelFolder& kernel, const std::string& t1, const std::string& problem) {
    const SearchSpace ours = kernel.family().space(Families({kernel.family()}).parse_problem(problem), cuda_limits(90));
    const SearchSpace theirs = parse_t1(t1, "t1.json").space;
    ASSERT_EQ(ours.product(), theirs.product());
    int members = 0;
    for (std::int64_t index = 0; index < ours.product(); ++index) {
        const auto rejection = ours.check(ours.at(index));
        if (rejection && rejection->constraint == "launch") continue;
        members += rejection ? 0 : 1;
        ASSERT_EQ(rejection.has_value(), theirs.check(theirs.at(index)).has_value()) << ours.at(index).key();
    }
    EXPECT_GT(members, 1);
}

TEST(T1Description, HasTheMembersOfTheSpace) {
    expect_members_of(Folder(saxpy()).kernel(), saxpy(), "saxpy");
    const std::string file = test::community_space("t1/convolution_milo.json");
    if (file.empty()) return;
    const std::string t1 = read_file(file, 1 << 20);
    expect_members_of(Folder(t1).kernel(), t1, "convolution_kernel");
    EXPECT_THAT(Folder(t1, R"("MemType": "Constant",)", R"("MemType": "Texture",)").error(), HasSubstr("MemType: is Texture; hone takes Global"));
}

TEST(T1Description, GivesParametersArgumentsAndTheLaunch) {
    const KernelFolder kernel = Folder(saxpy()).kernel();
    const Problem problem = Families({kernel.family()}).parse_problem("saxpy problem_size_x=1000");
    EXPECT_EQ(problem.precision(), Precision::f32);
    const std::vector<ArraySpec> arrays = kernel.family().arrays(problem);
    ASSERT_EQ(arrays.size(), 3U);
    EXPECT_EQ(arrays[2].name, "y");
    EXPECT_EQ(arrays[0].words, 1000);
    EXPECT_EQ(arrays[0].access, Access::out);
    const SearchSpace space = kernel.family().space(problem, cuda_limits(90));
    EXPECT_EQ(space.safe().key(), "block_size_x=128,points=1,adjacent=0");
    const auto refused = space.check(space.parse("points=1,adjacent=1"));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason, "adjacent is 1, points is 1");
    const KernelSource source = kernel.family().kernel(problem, space.parse("block_size_x=64,points=4"), cuda_limits(90));
    ASSERT_EQ(source.step.size(), 1U);
    EXPECT_EQ(source.step[0].grid, (Dim3{4, 1, 1}));
    EXPECT_EQ(source.step[0].block, (Dim3{64, 1, 1}));
    EXPECT_THAT(source.text, HasSubstr("saxpy(z, float(1.5), x, y, 1000);"));
}

TEST(T1Description, SaysWhatHoneCannotDo) {
    for (const auto& [piece, other, says] : {std::tuple{R"("CUDA")", R"("OpenCL")", "Language: is OpenCL; hone runs CUDA, C and C++"},
                                             {R"("Type": "float", "MemoryType": "Vector")", R"("Type": "half", "MemoryType": "Vector")",
                                              "Type: is half; hone takes float, double and int32"},
                                             {R"("FillType": "Random")", R"("FillType": "BinaryRaw")", "FillType: is BinaryRaw"},
                                             {R"("[2**i for i in range(4)]")", R"("[0.5, 1]")", "has the value 0.5"},
                                             {R"("points > 1 or not adjacent")", R"("points > 100")", "no configuration meets"},
                                             {R"("ConfigurationSpace")", R"("Configurations")", "ConfigurationSpace"},
                                             {R"("WriteOnly")", R"("WriteSometimes")", "AccessType: is WriteSometimes"}})
        EXPECT_THAT(Folder(saxpy(), piece, other).error(), HasSubstr(says)) << other;
}

// Else `hone check` would run it at another one, and it would read and write behind its arrays.
TEST(T1Description, AKernelThatIsGivenNoSizeRunsAtItsOwnAlone) {
    const Family family = Folder(saxpy(), R"("FillValue": "ProblemSize[0]")", R"("FillValue": 1000000)").kernel().family();
    EXPECT_NO_THROW(Families({family}).parse_problem("saxpy problem_size_x=1000000"));
    EXPECT_THROW(Families({family}).parse_problem("saxpy problem_size_x=1003"), Error);
}

TEST(T1Description, ADefaultMayBeAListOfOne) {
    const KernelFolder kernel = Folder(saxpy(), R"("Default": 128)", R"("Default": [256])").kernel();
    const Problem problem = Families({kernel.family()}).parse_problem("saxpy");
    EXPECT_EQ(kernel.family().space(problem, cuda_limits(90)).safe().integer("block_size_x"), 256);
    EXPECT_THAT(Folder(saxpy(), R"("Default": 128)", R"("Default": [64, 128])").error(), HasSubstr("Default: is a list of 2 values; name one"));
    std::string text = saxpy();
    const std::string piece = R"("Default": 128)";
    text.replace(text.find(piece), piece.size(), R"("Default": [256])");
    EXPECT_EQ(parse_t1(text, "t1.json").space.safe().integer("block_size_x"), 256);
}

TEST(T1Description, AnArrayInConstantMemoryIsFilledByTheFirstLaunchOfAStep) {
    const std::string piece = R"("Name": "y", "Type": "float")";
    for (const bool declared : {true, false}) {
        const Folder folder(saxpy(), piece, piece + R"(, "MemType": "Constant")");
        folder.write("saxpy.cu", declared ? "__constant__ float other, y [1000000];\n" : "// __constant__ float my[1000000]; y\n");
        const KernelFolder kernel = folder.kernel();
        const Problem problem = Families({kernel.family()}).parse_problem("saxpy problem_size_x=1000");
        const KernelSource source = kernel.family().kernel(problem, kernel.family().space(problem, cuda_limits(90)).safe(), cuda_limits(90));
        ASSERT_EQ(source.step.size(), declared ? 2U : 1U);
        EXPECT_EQ(source.step.back().entry, "hone_saxpy");
        EXPECT_EQ(source.step.front().entry == "hone_fills_constants", declared);
    }
}

TEST(T1Description, ArraysMayHaveSeveralTypesAndOutputsBeIntegers) {
    // The first of the arrays is z, which the kernel writes.
    for (const auto& [type, element] : {std::pair{"double", ValueType::f64}, {"int", ValueType::i32}}) {
        const std::string vector = R"(, "MemoryType": "Vector")";
        const KernelFolder kernel = Folder(saxpy(), R"("Type": "float")" + vector, fmt::format(R"("Type": "{}")", type) + vector).kernel();
        const Problem problem = Families({kernel.family()}).parse_problem("saxpy problem_size_x=1001");
        EXPECT_EQ(problem.precision(), Precision::f32);
        const std::vector<ArraySpec> arrays = kernel.family().arrays(problem);
        EXPECT_EQ(value_type_of(arrays[0], problem.precision()), element);
        EXPECT_EQ(value_count(arrays[0], problem.precision()), 1001);
        EXPECT_EQ(value_type_of(arrays[1], problem.precision()), ValueType::f32);
    }
}

TEST(T1Description, OfAProcessorHasItsEntryAlone) {
    const KernelFolder kernel = Folder(saxpy(), R"("CUDA")", R"("C")").kernel();
    EXPECT_EQ(kernel.description().cuda, std::nullopt);
    ASSERT_TRUE(kernel.description().cpu);
    EXPECT_EQ(kernel.description().cpu->launches.front().entry, "saxpy");
}

}  // namespace
}  // namespace hone::t1_description_test
