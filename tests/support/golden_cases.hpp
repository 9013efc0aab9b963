#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "generator/config.hpp"
#include "generator/family.hpp"

namespace hone::test {

/// A kernel of tests/golden/cases.txt.
struct GoldenCase {
    std::string name;
    Target target = Target::cpu;
    std::string problem;
    std::string config;
    std::string kept;  ///< "whole", or the text's SHA-256; of a new case nothing

    std::string file() const { return name + (target == Target::cuda ? ".cu" : ".cpp"); }
    bool whole() const { return kept == "whole"; }
    /// The case's line in cases.txt.
    std::string line() const;
    /// For messages of tests.
    friend void PrintTo(const GoldenCase& golden, std::ostream* stream) { *stream << golden.file(); }
};

/// A line of cases.txt, with the case that it is, if it is one.
struct GoldenLine {
    std::string text;
    std::optional<GoldenCase> golden;
};

std::vector<GoldenLine> read_golden_lines();
std::vector<GoldenCase> read_golden_cases();

/// The architecture that golden files are made for.
constexpr int golden_architecture = 90;

/// The limits that golden files are made with: the same on every machine.
Limits golden_limits(Target target, int architecture = golden_architecture);

/// A case with its kernel.
struct EmittedCase {
    Problem problem;
    Config config;
    std::optional<Rejection> rejection;  ///< why the configuration is not in the space of these limits
    KernelSource source;                 ///< else
};
EmittedCase emit_golden(const GoldenCase& golden, int architecture = golden_architecture);

}  // namespace hone::test
