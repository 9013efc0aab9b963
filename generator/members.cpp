#include "generator/members.hpp"

#include <algorithm>
#include <utility>

#include "generator/member_tree.hpp"

namespace hone::inline v0_1 {

Members::Members(std::vector<Form> forms) : forms_(std::move(forms)) {
    for (Form& form : forms_) {
        form.before = size_;
        size_ += static_cast<std::size_t>(form.tree->size());
    }
}

std::int64_t Members::operator[](std::size_t member) const {
    if (extra_) {
        if (member == extra_at_) return *extra_;
        if (member > extra_at_) --member;
    }
    if (list_) return (*list_)[member];
    const auto after =
        std::upper_bound(forms_.begin(), forms_.end(), member, [](std::size_t number, const Form& form) { return number < form.before; });
    // Of forms without members the last one begins at the same number, and has them.
    const Form& form = *std::prev(after);
    return form.first + form.tree->at(static_cast<std::int64_t>(member - form.before));
}

std::size_t Members::find(std::int64_t index) const {
    if (extra_ && index == *extra_) return extra_at_;
    std::size_t found = size_;
    if (list_) {
        const auto at = std::lower_bound(list_->begin(), list_->end(), index);
        if (at != list_->end() && *at == index) found = static_cast<std::size_t>(at - list_->begin());
    } else {
        const auto after =
            std::upper_bound(forms_.begin(), forms_.end(), index, [](std::int64_t number, const Form& form) { return number < form.first; });
        if (after != forms_.begin()) {
            const Form& form = *std::prev(after);
            if (const auto member = form.tree->find(index - form.first)) found = form.before + static_cast<std::size_t>(*member);
        }
    }
    if (found == size_) return size();
    return extra_ && found >= extra_at_ ? found + 1 : found;
}

Members Members::with(std::int64_t index) const {
    if (contains(index)) return *this;
    Members more = *this;
    if (list_) {
        std::vector<std::int64_t> all = *list_;
        all.insert(std::lower_bound(all.begin(), all.end(), index), index);
        return all;
    }
    std::size_t low = 0;  // members below it
    for (std::size_t high = size_; low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if ((*this)[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    more.extra_ = index;
    more.extra_at_ = low;
    return more;
}

Members Members::limited(const std::vector<std::vector<std::vector<bool>>>& allowed) const {
    std::vector<Form> forms = forms_;
    for (std::size_t form = 0; form < forms.size(); ++form)
        forms[form].tree = std::make_shared<const MemberTree>(forms[form].tree->limited(allowed[form]));
    return Members(std::move(forms));
}

void Members::describe(std::string& text) const {
    if (list_)
        for (const std::int64_t index : *list_) text += std::to_string(index) + " ";
    for (const Form& form : forms_) {
        text += std::to_string(form.first) + " ";
        form.tree->describe(text);
    }
    if (!list_ && extra_) text += std::to_string(*extra_) + " ";
}

bool operator==(const Members& a, const Members& b) {
    if (a.size() != b.size()) return false;
    if (a.list_ && a.list_ == b.list_) return true;
    return std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace hone::inline v0_1
