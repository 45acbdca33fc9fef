/** Drawings of services and of kinds of files. They are our own; none is a trade mark. */
import { drawing } from "../app/core/dom.js";

const shapes = {
    video: "M4 6h16v12H4zM10 9.5v5l4.5-2.5z",
    note: "M9 18V5c2 3 4 4 7 4M9 18a2.5 2.5 0 1 1-2.5-2.5A2.5 2.5 0 0 1 9 18",
    camera: "M7 4h10a3 3 0 0 1 3 3v10a3 3 0 0 1-3 3H7a3 3 0 0 1-3-3V7a3 3 0 0 1 3-3zM12 8.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M17 7h.01",
    crossing: "M5 5l14 14M19 5L5 19",
    file: "M7 3h7l4 4v14H7zM14 3v4h4",
    book: "M5 4h6a1 1 0 0 1 1 1v15a2 2 0 0 0-2-2H5zM19 4h-6a1 1 0 0 0-1 1v15a2 2 0 0 1 2-2h5z",
    page: "M4 5h16v14H4zM4 9h16M7 7h.01M9.5 7h.01",
};
const services = { tiktok: "note", instagram: "camera", youtube: "video", vimeo: "video", x: "crossing", twitter: "crossing", pdf: "file", ebook: "book" };

/**
 * @param {{service: string|null, genre: string}} download
 * @returns {SVGElement}
 */
export function serviceIcon({ service, genre }) {
    const name = [service, genre].find((each) => Object.hasOwn(services, each ?? "")) ?? "";
    return drawing(shapes[services[name] ?? "page"]);
}
