/** A swipe to the side on a touch screen. Each has a button that does the same. */

const distanceMin = 80;

/**
 * @param {HTMLElement} element
 * @param {() => void} act called after a swipe towards the start of the line
 */
export function onSwipe(element, act) {
    let start = null;
    element.addEventListener("touchstart", ({ touches }) => {
        start = touches.length === 1 ? { x: touches[0].clientX, y: touches[0].clientY } : null;
    }, { passive: true });
    element.addEventListener("touchend", ({ changedTouches: [touch] }) => {
        if (!start) return;
        const across = (touch.clientX - start.x) * (getComputedStyle(element).direction === "rtl" ? 1 : -1);
        const down = Math.abs(touch.clientY - start.y);
        start = null;
        if (across >= distanceMin && down < across / 2) act();
    }, { passive: true });
}
