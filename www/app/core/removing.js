/** What is removed from the library unless a person chooses Undo. */

/** Each as `kind/id`. */
export const removing = new Set();

/** @param {import("./route-types.js").Target} item */
export const keyOf = ({ kind, id }) => `${kind}/${id}`;

/** Whether a list leaves an item out. */
export const isBeingRemoved = (item) => removing.has(keyOf(item));
