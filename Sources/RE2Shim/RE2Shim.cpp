#include "RE2Shim.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

struct re2_shim_pattern {
    re2_shim_pattern(const re2::StringPiece &text, const RE2::Options &options) : expression(text, options) {}

    RE2 expression;
};

static void report(const std::string &text, char *problem, size_t problem_size) {
    if (problem == nullptr || problem_size == 0) return;
    size_t count = std::min(text.size(), problem_size - 1);
    std::memcpy(problem, text.data(), count);
    problem[count] = 0;
}

re2_shim_pattern *re2_shim_compile(const char *pattern, size_t length, int64_t memory_max, char *problem, size_t problem_size) {
    try {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(memory_max);
        re2_shim_pattern *compiled = new re2_shim_pattern(re2::StringPiece(pattern, length), options);
        if (compiled->expression.ok()) return compiled;
        report(compiled->expression.error(), problem, problem_size);
        delete compiled;
    } catch (...) {
        if (problem != nullptr && problem_size > 0) problem[0] = 0;
    }
    return nullptr;
}

int re2_shim_matches_start(const re2_shim_pattern *pattern, const char *text, size_t length) {
    try {
        re2::StringPiece whole(text, length);
        return pattern->expression.Match(whole, 0, length, RE2::ANCHOR_START, nullptr, 0) ? 1 : 0;
    } catch (...) {
        return -1;
    }
}

int re2_shim_groups(const re2_shim_pattern *pattern, const char *text, size_t length, ptrdiff_t *ranges, int groups_max) {
    try {
        re2::StringPiece whole(text, length);
        int count = std::min(pattern->expression.NumberOfCapturingGroups(), groups_max);
        std::vector<re2::StringPiece> found(count + 1);
        if (!pattern->expression.Match(whole, 0, length, RE2::UNANCHORED, found.data(), count + 1)) return -1;
        for (int group = 0; group < count; group++) {
            const re2::StringPiece &piece = found[group + 1];
            ptrdiff_t start = piece.data() == nullptr ? 0 : piece.data() - text;
            ranges[2 * group] = start;
            ranges[2 * group + 1] = start + static_cast<ptrdiff_t>(piece.size());
        }
        return count;
    } catch (...) {
        return -1;
    }
}

void re2_shim_free(re2_shim_pattern *pattern) {
    try {
        delete pattern;
    } catch (...) {
    }
}
