/** The English texts of the description of the capture server's API, sorted by key. `core/i18n.js` describes their form. */
import { addMessages } from "../../core/i18n.js";

addMessages({
    "docs.access": "Keys",
    "docs.access-text": "On this computer, your programs need a key for the administrator's calls only. From the network, each request needs one, as <code>Authorization: Bearer KEY</code> or <code>X-API-Key: KEY</code>. The administrator's calls need an administrator's key over https. On this computer, the <code>token</code> of the file <code>capture/capture.json</code> in the store is one too. The examples read the key from the shell variable <code>KEY</code>.",
    "docs.body-binary": "The body isn't text.",
    "docs.body-cut": "This is the beginning of the body.",
    "docs.body-empty": "The response has no body.",
    "docs.capture-errors": "An error has this shape. Programs can rely on <code>error</code>, except that it is the message for the older client. The other texts are for people. In the responses of a call, <code>default</code> stands for the errors that all calls can have.",
    "docs.capture-intro": "This page describes the HTTP API of this server. All calls also exist below <code>/api/v1</code>, and <code>HEAD</code> wherever there is <code>GET</code>. For programs, the same description is in <a>openapi.json</a>.",
    "docs.key": "Key for the requests of this page",
    "docs.key-hint": "It is sent with the requests below. When you close or reload this page, it is forgotten.",
    "docs.no-response": "There is no response. Check that replayhost-capture is running.",
    "docs.send": "Send",
    "docs.sending": "Sending…",
    "docs.try": "Try it",
});
