/** Fragments of archived URLs. */

/**
 * @param {string} url
 * @returns {string} the fragment with its number sign; empty when there's none
 */
export const fragmentOf = (url) => /#.+$/s.exec(url)?.[0] ?? "";

/**
 * @param {string} url
 * @returns {string}
 */
export const withoutFragment = (url) => url.replace(/#.*$/s, "");
