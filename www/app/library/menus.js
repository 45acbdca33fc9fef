/** The menus of the library and of an archive in it. */
import "../messages/en/library.js";
import "../messages/en/library-actions.js";
import { isUnavailable } from "../components/availability.js";
import { addByPath } from "../components/path-import.js";
import { menu } from "../components/popover.js";
import { message } from "../core/i18n.js";
import { libraryQuery } from "../core/library-api.js";
import { tabURL } from "../core/routes.js";

/**
 * @typedef {object} Choices what can be done with an archive
 * @property {boolean} isSelecting whether a checkbox is shown
 * @property {(id: string) => boolean} isSelected
 * @property {(archive: import("../core/api.js").Archive, isSelected: boolean) => void} select
 * @property {(archive: import("../core/api.js").Archive) => boolean} hasTwin whether another one has the same title
 * @property {(act: (selection: ReturnType<typeof import("./selection.js").createSelection>) => void) => void} act does something with
 *   the selection
 */

/**
 * Makes a button open the menu of an archive.
 *
 * @param {HTMLButtonElement} button
 * @param {import("../core/api.js").Archive} archive
 * @param {Choices["act"]} act
 */
export function archiveMenu(button, archive, act) {
    const isReadable = !isUnavailable(archive);
    const action = (key, onChosen) => ({ text: message(key), onChosen: () => act(onChosen) });
    menu(button, () => [
        isReadable && archive.mainPage && { text: message("library.open-pages"), href: tabURL(archive, "pages") },
        isReadable && { text: message("library.browse-urls"), href: tabURL(archive, "urls") },
        isReadable && { text: message("library.download"), href: archive.file, download: archive.originalName || `${archive.id}.wacz` },
        action("library.edit-tags", (selection) => selection.editTags([archive])),
        action("library.verify", (selection) => selection.verify([archive])),
        action("library.select", (selection) => selection.select(archive)),
        { ...action("library.remove", (selection) => selection.remove([archive])), isDanger: true },
    ]);
}

/**
 * Makes a button open the menu of the library.
 *
 * @param {HTMLButtonElement} button
 * @param {Choices["act"]} act
 * @param {() => import("../core/route-types.js").LibraryFilter} filter of the list
 */
export function libraryMenu(button, act, filter) {
    const address = (format) => `/api/archives?${libraryQuery(filter())}&format=${format}`;
    menu(button, () => [
        { text: message("library.add-by-path"), onChosen: addByPath },
        { text: message("library.new-collection"), onChosen: () => act((selection) => selection.begin()) },
        ...["csv", "json"].map((format) => ({ text: message(`library.download-${format}`), href: address(format), download: true })),
    ]);
}
