/** Adds files that are chosen or dropped to the library. */
import "../messages/en/around.js";
import { announce, make, plain } from "../core/dom.js";
import { language, message } from "../core/i18n.js";
import { navigate } from "../core/navigation.js";
import { tabURL } from "../core/routes.js";
import { acceptDrops } from "./drops.js";
import { followImports, imports, tally } from "./import-queue.js";
import { countIssues } from "./issue-groups.js";
import { toast } from "./toast.js";

const picker = make("input", { type: "file", multiple: true, accept: ".wacz,.warc,.arc,.gz,.zst,application/wacz", hidden: true, on: {
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
    toast(addedText(item.file.name, item.result), staysOpen ? { text: message("import.open"), onChosen: () => navigate(address) } : undefined);
}

/**
 * @param {string} file its name
 * @param {{archive?: import("../core/api.js").Archive, archives?: import("../core/api.js").Archive[], duplicate?: boolean}} result
 * @returns {string} what became of a file that was added alone
 */
export function addedText(file, { archive, archives = [archive], duplicate }) {
    const title = plain(archive?.title ?? file, 120) || archive.id;
    if (duplicate) return message("import.duplicate", { title });
    const issues = archives.reduce((sum, one) => sum + countIssues(one?.findings ?? [], ["error", "warning"]), 0);
    return message(issues > 0 ? "import.added-issues" : "import.added", { title, n: issues });
}

/**
 * @param {Object<string, number>} counts `added`, `duplicates`, `failed`, `cancelled`, `skipped`
 * @returns {string} for example `20 added, 1 duplicate, 5 failed`
 */
export function countsText(counts) {
    const parts = Object.entries(counts).filter(([, n]) => n > 0).map(([name, n]) => message(`import.count-${name}`, { n }));
    return new Intl.ListFormat(language, { style: "short", type: "unit" }).format(parts);
}

/** @param {import("./import-queue.js").Batch} batch */
export const resultText = (batch) => countsText(tally(batch));
