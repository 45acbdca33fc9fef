import { card } from "/card.js";

const list = document.querySelector("#species");
const answer = await fetch("/data/species.json");
const { species } = await answer.json();
list.append(...species.map(card));
list.dataset.ready = String(species.length);

const request = new XMLHttpRequest();
request.open("GET", "/data/tides.json?port=Skerry%20Bay&days=1");
request.responseType = "json";
request.addEventListener("load", () => {
    const { port, low, high } = request.response;
    document.querySelector("#tide").textContent = `Low water at ${port}: ${low}, high water: ${high}.`;
});
request.send();
