/** What a verification says about the contents of a file, without its signature. */

/**
 * @param {import("../core/api.js").Summary} summary
 * @returns {"undamaged"|"incomplete"|"digestsDiffer"|"suspicious"|"unreplayable"|"damaged"}
 */
export function contentsState({ state, contents }) {
    // Results of older versions have no state.
    return state ?? { failed: "damaged", incomplete: "incomplete" }[contents] ?? "undamaged";
}
