/** The names of archives in answers of the server that have titles only. */
import * as api from "../core/api.js";
import { uniqueTitle, createTitles } from "./archive-name.js";

/**
 * @typedef {{id: string, title: string, originalName?: string}} Named
 */

/**
 * @param {Named[]} archives each may be there several times
 * @param {Named[]} [alone] also those of which another archive of the library may have the title
 * @returns {Promise<Map<string, string>>} the name of each, by its ID; its title, and its file if others have the same title
 */
export async function namesOf(archives, alone = []) {
    const all = [...archives, ...alone];
    const titles = createTitles(all);
    const unknown = all.filter((one) => titles.isShared(one) && !one.originalName).concat(alone);
    const files = new Map();
    await Promise.all([...new Set(unknown.map(({ title }) => title))].map(async (title) => {
        for (const one of await api.archivesTitled(title)) {
            titles.note(one);
            files.set(one.id, one.originalName);
        }
    }));
    return new Map(all.map((one) => [one.id, uniqueTitle({ ...one, originalName: one.originalName ?? files.get(one.id) }, titles)]));
}
