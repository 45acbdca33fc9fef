/** A text area with line numbers. */
import { setText } from "../../app/core/dom.js";

/**
 * @param {{onInput: () => void, onSave: () => void}} host
 */
export function createEditor({ onInput, onSave }) {
    const area = document.getElementById("config-text");
    const numbers = document.getElementById("config-lines");

    area.addEventListener("input", () => {
        showNumbers();
        onInput();
    });
    area.addEventListener("scroll", align);
    area.addEventListener("keydown", (event) => {
        if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
        event.preventDefault();
        onSave();
    });

    function showNumbers() {
        const count = area.value.split("\n").length;
        setText(numbers, Array.from({ length: count }, (_, index) => index + 1).join("\n"));
        align();
    }

    function align() {
        numbers.scrollTop = area.scrollTop;
    }

    function setValue(text) {
        area.value = text;
        showNumbers();
    }

    return {
        get text() {
            return area.value;
        },
        set text(text) {
            setValue(text);
        },
        /** @param {string} text */
        enable(text) {
            area.disabled = false;
            setValue(text);
        },
        focus: () => area.focus(),
        /**
         * Moves the cursor.
         *
         * @param {number} line from 1
         * @param {number} column from 1, in Unicode scalars
         */
        goTo(line, column) {
            const lines = area.value.split("\n");
            const index = Math.min(Math.max(1, line), lines.length) - 1;
            const before = lines.slice(0, index).reduce((sum, text) => sum + text.length + 1, 0);
            const place = before + Array.from(lines[index]).slice(0, Math.max(0, column - 1)).join("").length;
            area.focus();
            area.setSelectionRange(place, place);
            const lineHeight = parseFloat(getComputedStyle(area).lineHeight);
            area.scrollTop = index * lineHeight - area.clientHeight / 2;
            area.scrollLeft = 0;
            align();
        },
    };
}
