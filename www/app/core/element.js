/** Creates elements that show no text. `dom.js` has the function for all others, and takes longer to load. */

/**
 * @param {string} tag
 * @param {Object<string, string>} [attributes]
 * @param {...Node} children
 * @returns {HTMLElement}
 */
export function makeEmpty(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

/**
 * Loads what an element shows, such as an image or a frame, without showing it.
 *
 * @param {string} tag
 * @param {Object<string, string>} attributes
 * @returns {Promise<void>} ends when it has loaded or failed
 */
export const loadHidden = (tag, attributes) => new Promise((done) => {
    const end = () => done(element.remove());
    const element = makeEmpty(tag, { ...attributes, hidden: "" });
    for (const event of ["load", "error"]) element.addEventListener(event, end);
    document.body.append(element);
});
