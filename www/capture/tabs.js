/** The three tabs. The fragment of the address says which one is shown. */
const names = ["download", "history", "settings"];

/**
 * @param {{onShown: (name: string) => void}} host
 * @returns {{show: () => void, current: string}} `show` shows the tab of the address
 */
export function createTabs({ onShown }) {
    const links = [...document.querySelectorAll("nav.tabs a")];
    let current = "";

    function show() {
        const wanted = location.hash.slice(1);
        const name = names.includes(wanted) ? wanted : names[0];
        const isFirst = current === "";
        for (const each of names) document.getElementById(`${each}-tab`).hidden = each !== name;
        for (const link of links) {
            if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        }
        if (name === current) return;
        current = name;
        onShown(name);
        // A person who came by the keyboard goes on in the tab.
        if (!isFirst) document.querySelector(`#${name}-tab h1`).focus({ preventScroll: true });
    }

    addEventListener("hashchange", show);
    return {
        show,
        get current() {
            return current;
        },
    };
}
