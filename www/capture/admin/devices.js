/** Connects devices: opens the network, makes a key, and shows its codes. */
import { copyText } from "../../app/components/copy-text.js";
import { showDialog } from "../../app/components/dialog.js";
import { announce, make, plain, setText } from "../../app/core/dom.js";
import { message, messageParts } from "../../app/core/i18n.js";
import * as api from "./api.js";
import { isUserName, refuseField, runChange, showValue } from "./parts.js";

/**
 * @param {{onChanged: () => void}} host
 * @returns {{show: (state: import("./api.js").State) => void, showKeys: (keys: import("./api.js").Key[]) => void, isWaiting: boolean}}
 */
export function createDevices({ onChanged }) {
    const [closed, open, form, places, problems, result] = ["closed", "open", "form", "places", "problems", "result"]
        .map((part) => document.getElementById(`connect-${part}`));
    const [name, user, admin] = ["name", "user", "admin"].map((part) => document.getElementById(`device-${part}`));
    const submit = form.querySelector("button");
    let device = null;
    let connected = null;
    let state = null;

    open.addEventListener("click", async () => {
        const chosen = await showDialog({
            title: message("admin.connect.open-title"),
            body: [make("p", { text: message("admin.connect.open-text") }), make("p", { text: message("admin.connect.open-key") })],
            action: { value: "open", text: message("admin.connect.open-now"), failure: message("admin.connect.open-failed"), run: api.openNetwork },
        });
        if (!chosen) return;
        state = { ...state, open: true };
        showParts();
        name.focus();
        announce(message("admin.connect.opened"));
        onChanged();
    });
    admin.addEventListener("change", showUser);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        makeKey();
    });

    /** An administrator's key isn't a user's. */
    function showUser() {
        user.disabled = admin.checked;
    }

    function makeKey() {
        const [deviceName, username] = [name.value.trim(), admin.checked ? "" : user.value.trim()];
        if (!deviceName) return refuseField(name, problems, message("admin.connect.no-name"));
        if (username && !isUserName(username)) return refuseField(user, problems, message("admin.users.wrong-name"));
        return runChange(submit, problems, message("admin.connect.failed"), async () => {
            device = await api.addDevice({ name: deviceName, admin: admin.checked, ...(username ? { username } : {}) });
            form.reset();
            showUser();
            showDevice();
            onChanged();
        });
    }

    function showDevice() {
        const { key, secret, link, payload_svg: payloadCode, link_svg: linkCode } = device;
        const connection = readPayload(device.payload);
        const title = make("h3", { text: message("admin.connect.device", { name: plain(key.name, 100) }), tabindex: "-1" });
        connected = make("p", { class: "quiet", text: message("admin.connect.waits") });
        const keyText = make("code", { class: "secret", dir: "ltr", text: secret });
        result.replaceChildren(title,
            make("ol", { class: "steps" },
                make("li", { text: message("admin.connect.step-network") }),
                connection.fp && make("li", {}, ...certificateStep(connection)),
                make("li", {}, ...messageParts("admin.connect.step-camera"))),
            make("div", { class: "codes" },
                code(linkCode, message("admin.connect.code-camera"), message("admin.connect.code-camera-hint")),
                code(payloadCode, message("admin.connect.code-app"), message("admin.connect.code-app-hint"))),
            make("h4", { text: message("admin.connect.key") }),
            make("div", { class: "key" }, keyText,
                make("button", { type: "button", text: message("admin.connect.copy-key"), on: { click: () => copyText(secret) } }),
                make("button", { type: "button", text: message("admin.connect.copy-link"), on: { click: () => copyText(link) } })),
            make("p", { class: "hint quiet", text: message("admin.connect.once") }),
            connected,
            make("p", { class: "buttons" },
                make("button", { type: "button", class: "primary", text: message("admin.connect.done"), on: { click: finish } })));
        showParts();
        title.focus();
        // The codes begin where the form was.
        title.scrollIntoView({ block: "nearest" });
    }

    /** Forgets the key, and shows the form again. */
    function finish() {
        device = connected = null;
        result.replaceChildren();
        showParts();
        name.focus();
    }

    function showParts() {
        closed.hidden = state.open || device !== null;
        form.hidden = !state.open || device !== null;
        // Encrypted ones first.
        const isPlain = (address) => Number(!address.startsWith("https:"));
        const addresses = [...state.addresses].sort((one, other) => isPlain(one) - isPlain(other));
        submit.disabled = addresses.length === 0;
        showValue(places, addresses, () => (addresses.length === 0 ? [message("admin.connect.no-address")]
            : messageParts("admin.connect.places", { addresses: make("span", {},
                ...addresses.flatMap((address, index) => [index > 0 && ", ", make("code", { text: plain(address, 300) })].filter(Boolean))) })));
    }

    return {
        show(now) {
            state = now;
            showParts();
        },
        showKeys(keys) {
            const used = device && keys.find(({ id }) => id === device.key.id)?.last_used_at;
            if (!used || connected.classList.contains("fine")) return;
            connected.className = "fine";
            setText(connected, message("admin.connect.connected"));
            announce(message("admin.connect.connected"));
        },
        /** Whether a device's codes are shown, and it hasn't connected yet. */
        get isWaiting() {
            return device !== null && !connected.classList.contains("fine");
        },
    };
}

function readPayload(text) {
    try {
        return JSON.parse(text);
    } catch {
        return {};
    }
}

function certificateStep({ fp: fingerprint, lan, protocol }) {
    const address = `${protocol}://${lan}/server.crt`;
    return [
        make("p", {}, ...messageParts("admin.connect.step-certificate", { address: make("code", { text: plain(address, 300) }) })),
        make("p", {}, ...messageParts("admin.connect.install-here", {},
            { a: (...children) => make("a", { href: "/server.crt", download: "server.crt" }, ...children) })),
        make("details", {},
            make("summary", { text: message("admin.connect.install") }),
            make("ul", { class: "bullets" },
                make("li", {}, ...messageParts("admin.connect.install-apple")),
                make("li", {}, ...messageParts("admin.connect.install-android")),
                make("li", {}, ...messageParts("admin.connect.install-compare", { fingerprint: make("code", { text: plain(fingerprint, 200) }) })))),
    ];
}

const code = (svg, title, hint) => make("figure", { class: "qr" },
    make("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt: message("admin.connect.code", { title }) }),
    make("figcaption", {}, make("strong", { text: title }), make("span", { class: "quiet hint", text: hint })));
