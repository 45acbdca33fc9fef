/** Reads the QR code of a server with the camera, or from a text. */
import { make } from "../app/core/dom.js";
import { message } from "../app/core/i18n.js";
import { linkFor, readPayload, setKey } from "./connection.js";

const millisecondsBetween = 250;

/** Whether this browser can read codes with the camera. */
const canScan = () => "BarcodeDetector" in window && Boolean(navigator.mediaDevices);

/**
 * @param {{onConnected: () => void}} host called when the code is one of this server
 * @returns {HTMLElement}
 */
export function createScanner({ onConnected }) {
    const problem = make("div", { class: "notice error", role: "alert", hidden: true, id: "scan-problem" });
    const field = make("textarea", { id: "scan-text", rows: 2, dir: "ltr", autocapitalize: "none", autocomplete: "off", spellcheck: "false", "aria-describedby": "scan-problem" });
    const camera = make("video", { class: "camera", hidden: true, playsinline: true, "aria-label": message("capture.scan.camera") });
    const scan = make("button", { type: "button", text: message("capture.scan.scan"), hidden: !canScan(), on: { click: () => (stream ? stop() : start()) } });
    const form = make("form", { novalidate: true }, make("label", { for: field.id, text: message("capture.scan.paste") }), field,
        make("p", { class: "buttons" }, make("button", { type: "submit", text: message("capture.scan.connect") }), scan), camera, problem);
    let stream = null;

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        take(field.value);
    });

    function fail(code) {
        problem.textContent = message(`capture.scan.problem-${code}`);
        problem.hidden = false;
    }

    function take(text) {
        const payload = readPayload(text);
        if (payload.problem) {
            fail(payload.problem);
            return;
        }
        problem.hidden = true;
        stop();
        field.value = "";
        const origin = `${payload.protocol}://${payload.lan}`;
        if (origin === location.origin || payload.wan && `${payload.protocol}://${payload.wan}` === location.origin) {
            if (payload.key) setKey(payload.key);
            onConnected();
        } else {
            // Another server has its own page, with its own queue.
            location.assign(linkFor(payload));
        }
    }

    async function start() {
        problem.hidden = true;
        try {
            stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
        } catch {
            fail("no-camera");
            return;
        }
        camera.srcObject = stream;
        camera.hidden = false;
        scan.textContent = message("capture.scan.stop");
        await camera.play();
        look(new window.BarcodeDetector({ formats: ["qr_code"] }));
    }

    async function look(detector) {
        while (stream) {
            const [code] = await detector.detect(camera).catch(() => []);
            if (code) {
                take(code.rawValue);
                // A code of something else stays in view: it's read once.
                stop();
                return;
            }
            await new Promise((done) => setTimeout(done, millisecondsBetween));
        }
    }

    function stop() {
        for (const track of stream?.getTracks() ?? []) track.stop();
        stream = null;
        camera.srcObject = null;
        camera.hidden = true;
        scan.textContent = message("capture.scan.scan");
    }

    return form;
}
