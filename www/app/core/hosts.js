/** The hosts of URLs. */

/**
 * @param {string} url
 * @returns {string} the host name; empty for other URLs
 */
export function hostOf(url) {
    try {
        return new URL(url).hostname;
    } catch {
        return "";
    }
}
