/** Icons of controls. */
import { drawing } from "./dom.js";

const shapes = {
    back: "M15 5l-7 7 7 7",
    forward: "M9 5l7 7-7 7",
    reload: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
    info: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM12 11v6M12 7v1",
    print: "M7 9V4h10v5M7 17H4v-8h16v8h-3M7 14h10v6H7z",
    library: "M4 6h16M4 6v3h16V6M6 9v10h12V9M10 13h4",
    file: "M7 3h7l4 4v14H7zM14 3v4h4",
    edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
    close: "M6 6l12 12M18 6L6 18",
    save: "M12 4v11M7 10l5 5 5-5M5 20h14",
};

/** @param {keyof typeof shapes} name */
export const icon = (name) => drawing(shapes[name]);
