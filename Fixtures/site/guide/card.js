/** A list item for one species. */
export function card({ name, latin, picture, page, zone }) {
    const item = document.createElement("li");
    const image = Object.assign(document.createElement("img"), { src: picture, alt: "" });
    const heading = document.createElement("h3");
    heading.append(Object.assign(document.createElement("a"), { href: page, textContent: name }));
    const science = Object.assign(document.createElement("div"), { className: "latin", textContent: latin });
    const place = Object.assign(document.createElement("p"), { textContent: `Lives in the ${zone}.` });
    item.append(image, heading, science, place);
    return item;
}
