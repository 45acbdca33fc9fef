/** Archives of the same title, which their files or their IDs tell apart. */
import { plain } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";

/**
 * @param {{id: string, title: string, originalName?: string}} archive
 * @param {ReturnType<typeof createTitles>} titles
 * @returns {string} its title, with its file if necessary, or its ID if another one also has the same file name
 */
export function uniqueTitle(archive, titles) {
    const { id, title, originalName } = archive;
    const name = plain(title) || id;
    if (!titles.isShared(archive)) return name;
    return message("archive.with-file", { title: name, file: !titles.isFileShared(archive) && plain(originalName, 120) || id });
}

/**
 * @param {import("../core/api.js").Archive} archive
 * @param {ReturnType<typeof createTitles>} titles
 * @returns {string} what tells it from another one of the same title: its file, or when it was added
 */
export const distinction = (archive, titles) => titles.isFileShared(archive)
    ? message("archive.added", { time: moment(archive.importedAt) }) : plain(archive.originalName, 120);

/** Finds titles of several archives. */
export function createTitles(archives = []) {
    const known = new Map();
    const note = ({ id, title, originalName }) => known.set(title, (known.get(title) ?? new Map()).set(id, originalName));
    archives.forEach(note);
    return {
        note,
        isShared: ({ title }) => known.get(title)?.size > 1,
        isFileShared: ({ id, title, originalName }) =>
            [...known.get(title) ?? []].some(([other, file]) => other !== id && file === originalName),
        clear: () => known.clear(),
    };
}
