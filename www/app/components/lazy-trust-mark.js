/** Marks of archives of which only the ID is known. Their verification is asked for when the mark is visible. */
import { trustMark } from "./trust-mark.js";
import * as api from "../core/api.js";
import { followServer } from "../core/connection.js";
import { make } from "../core/dom.js";
import { createCache } from "../core/newest.js";

const archivesMax = 200;
const requestsMax = 2;
// A verification can change the mark.
const secondsValid = 60;

const archives = createCache(archivesMax);
const places = new WeakMap();
let waiting = [];
let failed = [];
let running = 0;

const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        waiting.push(target);
    }
    next();
});
followServer({ onBack() {
    waiting.push(...failed.splice(0));
    next();
} });

/**
 * @param {string} id of an archive
 * @returns {HTMLElement} the place of its mark, which is filled when it is visible
 */
export function lazyTrustMark(id) {
    const place = make("span", { class: "trust-place" });
    places.set(place, id);
    observer.observe(place);
    return place;
}

function next() {
    // A list that was replaced needs no marks any more.
    waiting = waiting.filter(({ isConnected }) => isConnected);
    while (running < requestsMax && waiting.length > 0) fill(waiting.shift());
}

async function fill(place) {
    const id = places.get(place);
    running += 1;
    try {
        const period = Math.floor(Date.now() / 1000 / secondsValid);
        const archive = await archives.get(`${id} ${period}`, () => api.details({ kind: "archive", id }));
        place.replaceChildren(trustMark(archive));
    } catch (error) {
        // An archive that was removed meanwhile has no mark.
        if (error.status === 0) failed.push(place);
    } finally {
        running -= 1;
        next();
    }
}
