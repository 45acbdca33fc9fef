/** Adds archives to the library: files that are chosen or dropped, and files and folders of this computer. */
import "../messages/en/around.js";
import * as api from "../core/api.js";
import { announce, make, plain } from "../core/dom.js";
import { language, message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { tabURL } from "../core/routes.js";
import { showDialog } from "./dialog.js";
import { acceptDrops } from "./drops.js";
import { followImports, imports, tally } from "./import-queue.js";
import { toast } from "./toast.js";

const picker = make("input", { type: "file", multiple: true, accept: ".wacz,.warc,.arc,.gz,application/wacz", hidden: true, on: {
    change: () => {
        addFiles([...picker.files]);
        picker.value = "";
    },
} });
document.body.append(picker);

/**
 * Uploads files. The upload goes on while other views of the app are open.
 *
 * @param {Iterable<File>} files
 * @param {number} [skipped] the number of other files, which can't be archives
 */
export function addFiles(files, skipped = 0) {
    const added = [...files];
    imports.add(added, skipped);
    if (added.length > 0) announce(message("import.started", { n: added.length }));
}

/** Lets the user choose files to upload. */
export function pickFiles() {
    picker.click();
}

/** Asks for the path of a file or a folder of the server's computer, and imports it there. */
export async function addFromComputer() {
    const path = make("input", { type: "text", id: "computer-path", required: true, dir: "ltr", autocomplete: "off",
        autocapitalize: "none", spellcheck: "false", placeholder: "/media/archives", autofocus: true });
    const link = make("input", { type: "checkbox", id: "computer-link" });
    let jobs = [];
    const chosen = await showDialog({
        title: message("computer.title"),
        class: "computer-dialog",
        body: [
            make("p", { class: "quiet", text: message("computer.explanation") }),
            make("label", { for: path.id, text: message("computer.path") }), path,
            make("label", { class: "choice" }, link, message("computer.link")),
            make("p", { class: "quiet hint", text: message("computer.link-hint") }),
        ],
        action: { value: "add", text: message("computer.add"), run: async () => {
            jobs = await api.importPaths({ paths: [path.value.trim()], link: link.checked });
        } },
    });
    if (chosen) {
        toast(message("computer.started", { n: jobs.length }), { text: message("activity.show"), onChosen: () => navigate("/#activity") });
    }
}

acceptDrops(addFiles);
followImports({ onEnd: showResult });

/** Opens an archive that was added alone, unless the user has opened something else meanwhile. */
function showResult(batch) {
    const [item, other] = batch.items;
    if (!item) return;
    if (other || batch.skipped > 0 || !item.result) {
        announce(resultText(batch));
        return;
    }
    imports.dismissResult();
    const { archive, collection } = item.result;
    const address = tabURL(archive ? { kind: "archive", id: archive.id } : { kind: "collection", id: collection });
    const staysOpen = batch.address !== location.href;
    if (!staysOpen) navigate(address);
    toast(addedText(item), staysOpen ? { text: message("import.open"), onChosen: () => navigate(address) } : undefined);
}

function addedText({ file, result }) {
    const { archive, archives = [archive], duplicate } = result;
    const title = plain(archive?.title ?? file.name, 120) || archive.id;
    if (duplicate) return message("import.duplicate", { title });
    const counts = archives.map(({ findingCounts }) => findingCounts ?? {});
    const issues = counts.reduce((sum, { warning = 0, error = 0 }) => sum + warning + error, 0);
    return message(issues > 0 ? "import.added-issues" : "import.added", { title, n: issues });
}

/**
 * @param {import("./import-queue.js").Batch} batch
 * @returns {string} for example `20 added, 1 duplicate, 5 failed`
 */
export function resultText(batch) {
    const parts = Object.entries(tally(batch)).filter(([, n]) => n > 0).map(([name, n]) => message(`import.count-${name}`, { n }));
    return new Intl.ListFormat(language, { style: "short", type: "unit" }).format(parts);
}
