/** The client of the administrator's calls. */
import { createRequest } from "../api.js";
import { token } from "./token.js";

/**
 * @typedef {{what: string, repair: string|null}} Problem
 * @typedef {{paused: boolean, queued: number, running: number, waiting_for: string|null}} Queue
 * @typedef {{what: "store"|"downloads", path: string, free: number, total: number}} Disk in bytes
 * @typedef {{running: boolean, lines: string[], error: string|null}} Update the last update of the tools
 * @typedef {{software: string, started_at: string, problems: Problem[], addresses: string[], open: boolean, queue: Queue,
 *   disks: Disk[], tools: import("../api.js").Tool[], update: Update, isolation: {confined: boolean, reason: string|null}}} State
 *   `addresses`: the URLs for other computers; `open`: whether they may connect
 * @typedef {{id: number, name: string, username: string|null, admin: boolean, created_at: string, last_used_at: string|null,
 *   revoked_at: string|null}} Key
 * @typedef {{key: Key, secret: string, payload: string, link: string, payload_svg: string, link_svg: string}} Device
 * @typedef {{username: string, created_at: string, downloads: number}} User
 * @typedef {{username: string, cookies: number, changed_at: string}} Cookies
 * @typedef {{line: number, column: number, key: string|null, message: string}} Fault
 * @typedef {{text: string, faults: Fault[], warnings: Fault[], previous: boolean}} Configuration `previous`: whether there is a
 *   version before
 */

// Some changes make certificates or write to a slow disk.
const changeSeconds = 60;

const request = createRequest(token);
const read = async (path) => (await request("GET", path)).value;
const change = async (method, path, body) => (await request(method, path, { body, seconds: changeSeconds })).value;

/**
 * @param {string} code of a link
 * @returns {Promise<{token: string, expires_at: string}>}
 */
export const openSession = (code) => change("POST", "/admin/session", { code });

/** @returns {Promise<{link: string, expires_at: string}>} a link that opens this page once */
export const makeLink = () => change("POST", "/admin/link", {});

/** @returns {Promise<State>} */
export const state = () => read("/admin/state");

/**
 * @param {boolean} isPaused
 * @returns {Promise<{paused: boolean}>}
 */
export const setPaused = (isPaused) => change("POST", isPaused ? "/queue/pause" : "/queue/resume", {});

/** @returns {Promise<Key[]>} */
export const keys = () => read("/keys");

/** @param {number} id */
export const revokeKey = (id) => change("DELETE", `/keys/${encodeURIComponent(id)}`);

/**
 * @param {{name: string, username?: string, admin?: boolean}} device
 * @returns {Promise<Device>}
 */
export const addDevice = (device) => change("POST", "/config/setup", device);

/** @returns {Promise<User[]>} */
export const users = () => read("/users");

/** @returns {Promise<Cookies[]>} */
export const cookies = () => read("/cookies");

/**
 * @param {string} user
 * @param {string} text a cookies.txt
 */
export const setCookies = (user, text) => change("PUT", `/cookies/${encodeURIComponent(user)}`, { text });

/** @param {string} user */
export const removeCookies = (user) => change("DELETE", `/cookies/${encodeURIComponent(user)}`);

/** @param {boolean} nightly */
export const updateTools = (nightly) => change("POST", "/tools/update", { nightly });

export const rollBackTools = () => change("POST", "/tools/rollback", {});

/**
 * @param {number|null} offset in bytes; `null` for the end
 * @returns {Promise<{offset: number, next: number, lines: string[]}>}
 */
export const log = (offset) => read(offset === null ? "/server/log" : `/server/log?offset=${offset}`);

/** @returns {Promise<Configuration>} */
export const configuration = () => read("/config");

/**
 * @param {string} text
 * @returns {Promise<Configuration>}
 */
export const saveConfiguration = (text) => change("PUT", "/config", { text });

/**
 * @param {string} text
 * @returns {Promise<{faults: Fault[], warnings: Fault[]}>}
 */
export const checkConfiguration = (text) => change("POST", "/config/check", { text });

/** @returns {Promise<Configuration>} */
export const restoreConfiguration = () => change("POST", "/config/restore", {});

/** Lets other computers connect. */
export const openNetwork = () => change("POST", "/config/open", {});
