#include "CRE2.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <string>

struct cre2_pattern {
    cre2_pattern(const re2::StringPiece &text, const RE2::Options &options) : expression(text, options) {}

    RE2 expression;
};

static void tell(const std::string &text, char *problem, size_t problem_size) {
    if (problem == nullptr || problem_size == 0) return;
    size_t count = std::min(text.size(), problem_size - 1);
    std::memcpy(problem, text.data(), count);
    problem[count] = 0;
}

cre2_pattern *cre2_compile(const char *pattern, size_t length, int64_t memory_max, char *problem, size_t problem_size) {
    try {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_never_capture(true);
        options.set_max_mem(memory_max);
        cre2_pattern *made = new cre2_pattern(re2::StringPiece(pattern, length), options);
        if (made->expression.ok()) return made;
        tell(made->expression.error(), problem, problem_size);
        delete made;
    } catch (...) {
        if (problem != nullptr && problem_size > 0) problem[0] = 0;
    }
    return nullptr;
}

int cre2_matches_start(const cre2_pattern *pattern, const char *text, size_t length) {
    try {
        re2::StringPiece whole(text, length);
        return pattern->expression.Match(whole, 0, length, RE2::ANCHOR_START, nullptr, 0) ? 1 : 0;
    } catch (...) {
        return -1;
    }
}

void cre2_free(cre2_pattern *pattern) {
    try {
        delete pattern;
    } catch (...) {
    }
}
