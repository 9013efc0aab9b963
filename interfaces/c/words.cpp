// Statuses and grades in words.
#include <cstring>
#include <iterator>

#include "interfaces/c/grades.hpp"

using namespace hone::languages;

const char* hone_status_text(hone_status status) {
    // Other languages may pass any number, which an enumeration of C++ cannot hold.
    int number = 0;
    static_assert(sizeof number == sizeof status);
    std::memcpy(&number, &status, sizeof number);
    switch (number) {
        case HONE_OK:
            return "ok";
        case HONE_BAD_HANDLE:
            return "bad handle";
        case HONE_BAD_ARGUMENT:
            return "bad argument";
        case HONE_ERROR:
            return "error";
        case HONE_NO_MEMORY:
            return "no memory";
        case HONE_NO_RESULT:
            return "no result";
    }
    return "unknown status";
}

const char* hone_grade_text(std::int32_t grade) {
    for (std::size_t i = 0; i < hone::languages::grade_numbers.size(); ++i)
        if (hone::languages::grade_numbers.at(i) == grade) return hone::grade_words.at(i);
    return "unknown grade";
}
