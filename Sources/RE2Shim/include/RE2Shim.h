/* A C interface to RE2 for the filters of index queries. Matching takes linear time.
 *
 * These functions throw no C++ exceptions and log nothing.
 */
#ifndef RE2_SHIM_H
#define RE2_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled pattern, which is immutable and thread-safe. */
typedef struct re2_shim_pattern re2_shim_pattern;

/* Compiles `length` bytes of UTF-8.
 *
 * `memory_max` is the maximum memory for the compiled pattern and its caches, in bytes.
 * Returns NULL if the pattern can't be used, and writes the reason to `problem`, which has `problem_size` bytes.
 */
re2_shim_pattern *re2_shim_compile(const char *pattern, size_t length, int64_t memory_max, char *problem, size_t problem_size);

/* Returns 1 if the pattern matches at the start of `text`, 0 if it doesn't, and -1 if memory runs out. */
int re2_shim_matches_start(const re2_shim_pattern *pattern, const char *text, size_t length);

/* Finds the first match in `text` and writes the start and end of at most `groups_max` groups to `ranges`; 0 and 0 for an
 * unmatched group. Returns the number of groups written, or -1 without a match or if memory runs out. */
int re2_shim_groups(const re2_shim_pattern *pattern, const char *text, size_t length, ptrdiff_t *ranges, int groups_max);

/* Frees a pattern, which may be NULL. */
void re2_shim_free(re2_shim_pattern *pattern);

#ifdef __cplusplus
}
#endif

#endif
