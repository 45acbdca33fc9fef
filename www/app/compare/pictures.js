/** Two pictures, one over the other, with a slider that moves the edge between them. */
import "../messages/en/compare.js";
import { make } from "../core/dom.js";
import { size } from "../core/format.js";
import { message } from "../core/i18n.js";

/**
 * @param {{path: string, bytes: number, time: string}[]} pictures of sides A and B. `path`: of the captured file; `bytes`: 0 if unknown
 * @returns {HTMLElement}
 */
export function createPictures(pictures) {
    const facts = make("ul", { class: "quiet picture-facts" });
    const problems = make("div", { "aria-live": "polite" });
    const images = pictures.map(({ path, bytes, time }, index) => {
        const side = "AB"[index];
        const fact = make("li");
        facts.append(fact);
        return make("div", {}, make("img", { src: path, alt: message("compare.picture", { side, time }), on: {
            load: ({ target: { naturalWidth, naturalHeight } }) => {
                fact.textContent = message("compare.picture-size", { side, width: String(naturalWidth), height: String(naturalHeight),
                    size: bytes > 0 ? size(bytes) : "none" });
            },
            error: () => problems.append(make("p", { class: "notice warning", text: message("compare.not-a-picture", { side }) })),
        } }));
    });
    const both = make("div", { class: "both-pictures" }, ...images);
    const slider = make("input", { type: "range", min: "0", max: "100", value: "50", "aria-label": message("compare.slider"), on: { input: move } });

    function move() {
        both.style.setProperty("--edge", `${slider.value}%`);
        slider.setAttribute("aria-valuetext", message("compare.slider-value", { percent: slider.value }));
    }

    move();
    return make("div", { class: "compare-pictures" }, problems, facts,
        make("div", { class: "slider-line" }, letter("A"), slider, letter("B")), both);
}

const letter = (text) => make("span", { "aria-hidden": "true", text });
