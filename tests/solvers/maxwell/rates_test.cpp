#include "solvers/maxwell/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::maxwell::rates_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

class WaveRates : public ::testing::Test {
  protected:
    std::filesystem::path written(const std::string& text) const {
        std::ofstream(file_) << text;
        return file_;
    }

    const std::string head_ = "device,equation,order,precision,elements,kernel,seconds,gflops,gigabytes_per_second,dofs_per_second,configuration\n";
    TemporaryFolder folder_;
    const std::filesystem::path file_ = folder_.path() / "rates.csv";
};

TEST_F(WaveRates, OfAFileMakeACurvePerDeviceAndKernel) {
    const auto rows = read_rates(written(head_ + "\"A, the first\",acoustics_3d,2,f32,10,dg_stage,1,5.5,1,1,\"exact, fused=whole\"\n"
                                                 "\"A, the first\",acoustics_3d,3,f32,10,dg_stage,1,7,1,1,\"exact, fused=whole\"\n"
                                                 "\"A, the first\",acoustics_3d,3,f32,10,dg_stage,1,6,1,1,\"exact, fused=separate\"\n"
                                                 "\"A, the first\",acoustics_3d,3,f64,10,dg_stage,1,3,1,1,\"\"\n"
                                                 "\"A, the first\",maxwell_3d,3,f32,10,dg_stage,1,4,1,1,\"\"\n"
                                                 "\"B\",acoustics_3d,3,f32,10,step,1,9,1,1,\"\"\n"));
    ASSERT_EQ(rows.size(), 6U);
    const Chart chart = rates_chart(rows, "acoustics_3d", "f32");
    ASSERT_EQ(chart.curves.size(), 3U);
    EXPECT_EQ(chart.curves[0].name, "A, the first, dg_stage");
    EXPECT_THAT(chart.curves[0].points, ElementsAre(Pair(2, 5.5), Pair(3, 7)));
    EXPECT_EQ(chart.curves[1].name, "B, time step");
    EXPECT_THAT(chart.curves[2].points, ElementsAre(Pair(2, 20), Pair(7, 150)));  // of 2008
    EXPECT_EQ(rates_chart(rows, "acoustics_3d", "f64").curves.size(), 1U);
    EXPECT_THAT([&] { rates_chart(rows, "maxwell_2d_tm", "f32"); }, ThrowsMessage<Error>(HasSubstr("maxwell_2d_tm")));
}

TEST_F(WaveRates, RefuseOtherFiles) {
    EXPECT_THAT([&] { read_rates(folder_.path() / "none.csv"); }, ThrowsMessage<Error>(HasSubstr("none.csv")));
    EXPECT_THAT([&] { read_rates(written("time,energy\n1,2\n")); }, ThrowsMessage<Error>(HasSubstr("does not begin")));
    EXPECT_THAT([&] { read_rates(written(head_ + "a,b\n")); }, ThrowsMessage<Error>(HasSubstr("line 2: 2 cells")));
    EXPECT_THAT([&] { read_rates(written(head_ + "A,acoustics_3d,two,f32,10,dg_stage,1,5,1,1,x\n")); },
                ThrowsMessage<Error>(HasSubstr("\"two\" is not a number")));
}

}  // namespace
}  // namespace hone::solvers::maxwell::rates_test
