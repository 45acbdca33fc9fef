"""Functions that store something in each of a page's storages, and that look for it."""

PLANT = """async () => {
    localStorage.setItem("planted", "1");
    sessionStorage.setItem("planted", "1");
    await (await caches.open("planted")).put("/planted", new Response("1"));
    await new Promise((done, failed) => {
        const request = indexedDB.open("planted", 1);
        request.onupgradeneeded = () => request.result.createObjectStore("planted");
        request.onsuccess = () => { request.result.close(); done(); };
        request.onerror = () => failed(request.error);
    });
}"""
# The names of storages with data. The database is opened, since some engines don't list databases.
LOOK = """async () => {
    const found = [];
    if (localStorage.getItem("planted")) found.push("localStorage");
    if (sessionStorage.getItem("planted")) found.push("sessionStorage");
    if ((await caches.keys()).includes("planted")) found.push("Cache storage");
    await new Promise((done, failed) => {
        const request = indexedDB.open("planted");
        request.onupgradeneeded = () => request.transaction.abort();
        request.onsuccess = () => { found.push("IndexedDB"); request.result.close(); done(); };
        request.onerror = () => (request.error.name === "AbortError" ? done() : failed(request.error));
    });
    return found;
}"""
STORAGES = ["localStorage", "sessionStorage", "Cache storage", "IndexedDB"]

# Waits for a request to a database. An error in a listener wouldn't end a promise, and a test would wait for it for ever.
ASKED = """const asked = (request) => new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
        request.onblocked = () => failed(new Error("another connection to the database is open"));
    });"""

# The type of the replay engine's collection: "live" for lookups, or "wacz" for ranges.
STORED_TYPE = f"""async () => {{
    {ASKED}
    const database = await asked(indexedDB.open("collDB"));
    const stored = await asked(database.transaction("colls").objectStore("colls").getAll());
    database.close();
    return stored.map(({{ type }}) => type).join();
}}"""

# Changes settings of the engine's only collection, as an archived script can; returns those of before, or `null` if there is none.
CHANGE_SETTINGS = f"""async (settings) => {{
    {ASKED}
    const database = await asked(indexedDB.open("collDB"));
    const store = database.transaction("colls", "readwrite").objectStore("colls");
    const [collection] = await asked(store.getAll());
    const before = collection && {{ ...collection.config.extraConfig }};
    if (collection) {{
        Object.assign(collection.config.extraConfig ??= {{}}, settings);
        await asked(store.put(collection));
    }}
    database.close();
    return before ?? null;
}}"""
