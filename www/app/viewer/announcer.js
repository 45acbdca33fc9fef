/** Tells screen readers which page is shown. */
import { announce } from "../core/dom.js";
import { moment } from "../core/format.js";
import { message } from "../core/i18n.js";

/**
 * @returns {(title: string, capture?: import("../core/api.js").Capture) => void} announces the title, and the time if another
 *   capture of the same URL was announced before
 */
export function createAnnouncer() {
    let former = {};
    return (title, { url, timestamp, capturedAt } = {}) => {
        // A page can arrive in several reports.
        const isOtherTime = url !== undefined && url === former.url && (timestamp !== former.timestamp || former.isOtherTime);
        announce(isOtherTime ? message("viewer.title-captured", { title, time: moment(capturedAt) }) : title);
        former = { url, timestamp, isOtherTime };
    };
}
