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

# The type of the replay engine's collection: "live" for lookups, or "wacz" for ranges.
STORED_TYPE = """() => new Promise((done, failed) => {
    const opening = indexedDB.open("collDB");
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
        const reading = opening.result.transaction("colls").objectStore("colls").getAll();
        reading.onsuccess = () => done(reading.result.map((one) => one.type).join());
        opening.result.close();
    };
})"""
