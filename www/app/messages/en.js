/** The texts of the interface in English, sorted by key. `core/i18n.js` describes their form. */
export const messages = {
    "archive.cant-open": "This archive can't be opened",
    "count.archives": "{n, plural, one {# archive} other {# archives}}",
    "count.captures": "{n, plural, one {# capture} other {# captures}}",
    "count.collections": "{n, plural, one {# collection} other {# collections}}",
    "count.files": "{n, plural, one {# file} other {# files}}",
    "count.issues": "{n, plural, one {# issue} other {# issues}}",
    "count.pages": "{n, plural, one {# page} other {# pages}}",
    "count.pages-detected": "{n, plural, one {# page} other {# pages}} (detected)",
    "count.urls": "{n, plural, one {# URL} other {# URLs}}",
    "dialog.cancel": "Cancel",
    "dialog.close": "Close",
    "library.open": "Open the library",
    "toast.dismiss": "Dismiss",
    "view.cant-load": "This view can't be loaded",
};
