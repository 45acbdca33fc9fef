/** Archives of the same title, which their files tell apart. */
import { plain } from "../core/dom.js";
import { message } from "../core/i18n.js";

/**
 * @param {{id: string, title: string, originalName?: string}} archive
 * @param {boolean} hasTwin whether another one has the same title
 * @returns {string} its title, with its file if necessary
 */
export function uniqueTitle({ id, title, originalName }, hasTwin) {
    const name = plain(title) || id;
    return hasTwin ? message("archive.with-file", { title: name, file: plain(originalName, 120) || id }) : name;
}

/** Finds titles of several archives. */
export function createTitles(archives = []) {
    const known = new Map();
    const note = ({ id, title }) => known.set(title, (known.get(title) ?? new Set()).add(id));
    archives.forEach(note);
    return { note, isShared: ({ title }) => known.get(title)?.size > 1, clear: () => known.clear() };
}
