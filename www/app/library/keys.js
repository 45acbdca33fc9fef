/** The keys of the library's list. */
import { settings } from "../core/settings.js";

/**
 * @param {KeyboardEvent} event
 * @param {import("../core/api.js").Archive} archive of the row that has the focus
 * @param {number} index of the row
 * @param {number|undefined} to the row that Shift and an arrow key lead to
 * @param {{list: ReturnType<typeof import("../components/windowed-list.js").windowedList>, select: import("./menus.js").Choices["act"]}} view
 */
export function press(event, archive, index, to, { list, select }) {
    if (event.shiftKey && to !== undefined) {
        const range = Array.from({ length: Math.abs(to - index) + 1 }, (_, step) => list.item(Math.min(index, to) + step)).filter(Boolean);
        select((selected) => range.forEach((one) => selected.select(one)));
    } else if (event.key === " " && !event.target.matches("button, input")) {
        select((selected) => selected.select(archive, !selected.isSelected(archive.id)));
    } else if (event.key === "Delete") {
        select((selected) => selected.remove(selected.orElse(archive)));
    } else if (event.key === "e" && settings().singleKeys) {
        select((selected) => selected.editTags(selected.orElse(archive)));
    }
}
