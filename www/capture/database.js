/** The database of this device. Pages and the service worker share it. */

const name = "replayhost-capture";
let opening = null;

/** An error of the browser's storage. */
export class StorageError extends Error {
    /** @param {"full"|"refused"} code `full`: no space is left; `refused`: the browser keeps nothing for this site */
    constructor(code, cause) {
        super(code, { cause });
        this.name = "StorageError";
        this.code = code;
    }
}

const failure = (error) => (error instanceof StorageError ? error
    : new StorageError(error?.name === "QuotaExceededError" ? "full" : "refused", error));

function open() {
    opening ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => {
            const database = request.result;
            // Shares are sent in the order of their keys.
            database.createObjectStore("shares", { keyPath: "order", autoIncrement: true }).createIndex("id", "id", { unique: true });
            database.createObjectStore("history", { keyPath: "id" }).createIndex("sharedAt", "sharedAt");
            database.createObjectStore("state", { keyPath: "name" });
        };
        request.onsuccess = () => {
            const database = request.result;
            // The browser has deleted the site's data, or a newer version of the app wants to change the database.
            database.onclose = () => {
                opening = null;
            };
            database.onversionchange = () => {
                database.close();
                opening = null;
            };
            resolve(database);
        };
        request.onerror = request.onblocked = () => reject(failure(request.error));
    }).catch((error) => {
        opening = null;
        throw failure(error);
    });
    return opening;
}

/**
 * Runs a transaction. What it writes is on disk when the promise is fulfilled.
 *
 * @template Value
 * @param {("shares"|"history"|"state")[]} stores
 * @param {"readonly"|"readwrite"} mode
 * @param {(...stores: IDBObjectStore[]) => Value} work starts requests, and returns what `transact` returns. A function is
 *   called once the transaction is complete
 * @returns {Promise<Value>}
 * @throws {StorageError}
 */
export async function transact(stores, mode, work) {
    try {
        const database = await open();
        const transaction = database.transaction(stores, mode, { durability: "strict" });
        const value = work(...stores.map((store) => transaction.objectStore(store)));
        await new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onerror = transaction.onabort = () => reject(transaction.error ?? new StorageError("refused"));
        });
        return typeof value === "function" ? value() : value;
    } catch (error) {
        throw failure(error);
    }
}

/**
 * @param {"shares"|"history"} store
 * @returns {Promise<object[]>} all items, in the order of their keys
 */
export const readAll = (store) => transact([store], "readonly", (items) => {
    const request = items.getAll();
    return () => request.result;
});

/**
 * @param {string} key
 * @returns {Promise<any>} a value that `writeState` has kept; `undefined` without one
 */
export const readState = (key) => transact(["state"], "readonly", (state) => {
    const request = state.get(key);
    return () => request.result?.value;
});

/**
 * @param {string} key
 * @param {any} value
 */
export const writeState = (key, value) => transact(["state"], "readwrite", (state) => void state.put({ name: key, value }));

/** Deletes everything that this device keeps. */
export const clear = () => transact(["shares", "history", "state"], "readwrite", (...stores) => {
    for (const store of stores) store.clear();
});
