import { plain } from "./dom.js";
import { message } from "./i18n.js";

/** @returns {string} the name of a site. URLs without a host are grouped by their scheme */
export const siteName = (site) => (site === "file:" ? message("site.local-files") : plain(site));
