#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

class MemberTree;

/// The members of a search space: their indices, ascending. A list, or for large spaces a tree for
/// each form (generator/member_tree.hpp), so that 10^8 members take no more memory than they need.
/// An immutable value; copies are cheap. Going through all of a large one takes long.
///
///     const Members members = space.members();
///     for (std::size_t i = 0; i < 10 && i < members.size(); ++i) fmt::print("{}\n", space.at(members[i]).key());
class Members {
  public:
    /// The members of one form, whose assignments begin with number `first` of the space's.
    struct Form {
        std::int64_t first = 0;
        std::shared_ptr<const MemberTree> tree;
        std::size_t before = 0;  ///< members of the forms before
    };

    Members() : Members(std::vector<std::int64_t>{}) {}
    Members(std::vector<std::int64_t> list) : Members(std::make_shared<const std::vector<std::int64_t>>(std::move(list))) {}
    Members(std::shared_ptr<const std::vector<std::int64_t>> list) : list_(std::move(list)), size_(list_->size()) {}
    explicit Members(std::vector<Form> forms);

    std::size_t size() const { return size_ + (extra_ ? 1 : 0); }
    bool empty() const { return size() == 0; }
    std::int64_t operator[](std::size_t member) const;
    std::int64_t front() const { return (*this)[0]; }
    std::int64_t back() const { return (*this)[size() - 1]; }
    /// The member of an index, or `size()` where it is none.
    std::size_t find(std::int64_t index) const;
    bool contains(std::int64_t index) const { return find(index) < size(); }

    /// With one more, unless it is there. Trees take one such index, not two.
    Members with(std::int64_t index) const;
    /// The trees; none where it is a list.
    const std::vector<Form>& forms() const { return forms_; }
    /// Of trees, those members whose values are all allowed: [form][tunable of the form][value].
    Members limited(const std::vector<std::vector<std::vector<bool>>>& allowed) const;
    /// Appends what tells these members from any others.
    void describe(std::string& text) const;

    class Iterator {
      public:
        using iterator_category = std::random_access_iterator_tag;
        using value_type = std::int64_t;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::int64_t*;
        using reference = std::int64_t;

        Iterator() = default;
        Iterator(const Members& of, std::size_t at) : of_(&of), at_(at) {}
        std::int64_t operator*() const { return (*of_)[at_]; }
        std::int64_t operator[](std::ptrdiff_t distance) const { return *(*this + distance); }
        Iterator& operator+=(std::ptrdiff_t distance) {
            at_ += static_cast<std::size_t>(distance);
            return *this;
        }
        Iterator& operator-=(std::ptrdiff_t distance) { return *this += -distance; }
        Iterator& operator++() { return *this += 1; }
        Iterator& operator--() { return *this += -1; }
        Iterator operator++(int) { return (*this += 1) + -1; }
        Iterator operator--(int) { return (*this += -1) + 1; }
        Iterator operator+(std::ptrdiff_t distance) const { return Iterator(*this) += distance; }
        Iterator operator-(std::ptrdiff_t distance) const { return *this + -distance; }
        std::ptrdiff_t operator-(const Iterator& other) const { return static_cast<std::ptrdiff_t>(at_ - other.at_); }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }
        auto operator<=>(const Iterator& other) const { return at_ <=> other.at_; }

      private:
        const Members* of_ = nullptr;
        std::size_t at_ = 0;
    };
    using value_type = std::int64_t;
    using iterator = Iterator;
    using const_iterator = Iterator;
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size()}; }

    friend bool operator==(const Members& a, const Members& b);

  private:
    std::shared_ptr<const std::vector<std::int64_t>> list_;  ///< none where there are trees
    std::vector<Form> forms_;
    std::size_t size_ = 0;  ///< of the list or the trees
    std::optional<std::int64_t> extra_;
    std::size_t extra_at_ = 0;  ///< its number
};

}  // namespace hone::inline v0_1
