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
