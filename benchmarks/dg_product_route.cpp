#include "benchmarks/dg_product_route.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>

#include "benchmarks/rivals.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::benchmarks {

DeviceArray stacked_operator(Backend& backend, const dg::Shape& shape) {
    const ReferenceElement& element = shape.reference();
    const int nodes = shape.nodes, dimension = shape.dimension;
    HostArray stacked(shape.precision, std::int64_t{dimension} * nodes * nodes);
    for (int a = 0; a < dimension; ++a)
        for (int n = 0; n < nodes; ++n)
            for (int m = 0; m < nodes; ++m)
                stacked.set_word((std::int64_t{m} * dimension + a) * nodes + n, element.derivative[static_cast<std::size_t>(a)](n, m));
    DeviceArray on_device(backend, stacked.bytes());
    backend.copy(on_device.data(), stacked.data(), stacked.bytes());
    backend.synchronise();
    return on_device;
}

std::string chain_rule_text(const dg::Shape& shape) {
    std::string text = fmt::format("#define {}\nconstexpr int nodes = {}, fields = {}, dimension = {};\n", shape.equation, shape.nodes, shape.fields,
                                   shape.dimension);
    text += real_type(shape.precision);
    text += rival_text("dg_chain_rule");
    return text;
}

/// Elements that a thread takes at a time.
struct ProductRoute::Chunks {
    int elements;
    std::int64_t bytes;  ///< of their derivatives
};

ProductRoute::ProductRoute(Backend& backend, const DeviceProblem& problem)
    : problem_(problem),
      shape_(problem.problem()),
      rhs_(backend, words() * shape_.bytes()),
      operator_(stacked_operator(backend, shape_)),
      derivatives_(backend, shape_.dimension * words() * shape_.bytes()) {
    KernelSource source;
    source.precision = shape_.precision;
    source.entries = {"chain_rule"};
    source.text = chain_rule_text(shape_);
    source.text += rival_text("dg_chain_rule.cpp");
    source.arrays = {{"d", Access::in, 0, "", ""}, {"geometry", Access::in, 0, "", ""}, {"rhs", Access::out, 0, "", ""}};
    source.step = {{.entry = "chain_rule", .constants = {}}};
    module_ = rival_module(backend, source);
    entry_ = module_->entry("chain_rule");
}

void ProductRoute::chain_rule(const void* derivatives, int first, int last) const {
    const void* d = derivatives;
    const void* geometry = problem_.array(1);
    void* rhs = rhs_.data();
    std::array<void*, 5> arguments{&d, &geometry, &rhs, &first, &last};
    module_->launch(entry_, {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
}

gemm::Shape ProductRoute::product_of(int elements) const {
    gemm::Shape product(built_in_families().parse_problem(fmt::format("batched_gemm m=1 n=1 k=1 batch=1 precision={}", to_string(shape_.precision))));
    product.m = shape_.dimension * shape_.nodes;
    product.n = shape_.fields * elements;
    product.k = shape_.nodes;
    return product;
}

const char* ProductRoute::fields_of(int element) const {
    return static_cast<const char*>(problem_.array(0)) + std::int64_t{element} * shape_.words() * shape_.bytes();
}

void ProductRoute::run(const Chunks& chunks, const ThreadProduct& whole, const ThreadProduct& rest) const {
    const auto elements = static_cast<int>(shape_.elements);
#pragma omp parallel
    {
        void* const derivatives = static_cast<char*>(derivatives_.data()) + omp_get_thread_num() * chunks.bytes;
#pragma omp for schedule(static)
        for (int first = 0; first < elements; first += chunks.elements) {
            const int last = std::min(first + chunks.elements, elements);
            (last - first == chunks.elements ? whole : rest).run(operator_.data(), fields_of(first), derivatives);
            chain_rule(derivatives, first, last);
        }
    }
}

std::vector<Way> ProductRoute::ways() {
    const auto elements = static_cast<int>(shape_.elements);
    const std::int64_t bytes_of_element = std::int64_t{shape_.dimension} * shape_.words() * shape_.bytes();
    const std::int64_t most = shape_.elements / omp_get_max_threads();  // every thread has a part of the derivatives
    std::vector<Way> ways;
    for (const int kib : {16, 64, 512}) {
        const auto count =
            static_cast<int>(std::clamp<std::int64_t>(kib * std::int64_t{1024} / bytes_of_element, 1, std::max<std::int64_t>(1, most)));
        const Chunks chunks{count, count * bytes_of_element};
        const std::vector<ThreadProduct> whole = thread_products(product_of(count)),
                                         rest = thread_products(product_of(std::max(1, elements % count)));
        for (std::size_t i = 0; i < std::min(whole.size(), rest.size()); ++i)
            ways.push_back({fmt::format("{}, {} elements at a time", whole[i].name, count),
                            [this, chunks, all = whole[i], last = rest[i]] { run(chunks, all, last); }});
    }
    for (const ThreadProduct& product : thread_products(product_of(1)))
        if (product.name == "oneMKL") {
            const ThreadProduct all = thread_products(product_of(elements)).front();
            ways.push_back({"oneMKL, whole", [this, all, elements] {
                                all.run(operator_.data(), fields_of(0), derivatives_.data());
#pragma omp parallel
                                {
                                    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
                                    const auto first = static_cast<int>(elements * thread / threads);
                                    chain_rule(static_cast<const char*>(derivatives_.data()) +
                                                   first * std::int64_t{shape_.dimension} * shape_.words() * shape_.bytes(),
                                               first, static_cast<int>(elements * (thread + 1) / threads));
                                }
                            }});
        }
    return ways;
}

}  // namespace hone::benchmarks
