/* RE2 as far as filters of index queries need it: a pattern, matched in time linear in the text.
 *
 * No C++ exception leaves these functions, and nothing is logged.
 */
#ifndef RE2_SHIM_H
#define RE2_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled pattern. Immutable; may be used by several threads. */
typedef struct re2_shim_pattern re2_shim_pattern;

/* Compiles `length` bytes of UTF-8.
 *
 * `memory_max` bounds, in bytes, the program made of the pattern and the caches that matching fills.
 * Returns NULL when the pattern can't be used; then `problem`, of `problem_size` bytes, says why.
 */
re2_shim_pattern *re2_shim_compile(const char *pattern, size_t length, int64_t memory_max, char *problem, size_t problem_size);

/* Whether a match begins with the first byte of `text`: 1 or 0, or -1 when memory ran out. */
int re2_shim_matches_start(const re2_shim_pattern *pattern, const char *text, size_t length);

/* Where the first match anywhere in `text` has its groups: begins and ends in `places`, for at most `groups_max` groups; 0 and 0
 * for one that took no part. Returns how many groups the pattern has of these, or -1 without a match or without memory. */
int re2_shim_groups(const re2_shim_pattern *pattern, const char *text, size_t length, ptrdiff_t *places, int groups_max);

/* Gives the pattern back; NULL is allowed. */
void re2_shim_free(re2_shim_pattern *pattern);

#ifdef __cplusplus
}
#endif

#endif
