/** The types of `windowed-list.js`, which nothing loads. */

/**
 * @template Item
 * @typedef {object} Source
 * @property {string} label of the list
 * @property {(offset: number, limit: number, signal: AbortSignal) => Promise<{total: number, items: Item[]}>} load
 * @property {(item: Item, index: number) => HTMLElement} render its first link or button is what Enter opens
 * @property {number} [blockSize] the limit of each load
 * @property {(item: Item) => string} [keyOf] tells items apart; an item that moves keeps its row. By default, an item is its JSON
 * @property {(item: Item) => string} [stateOf] what a row depends on besides its item; a row is rendered again when it changes
 * @property {(width: number) => {rem: number, columns: number}} shape the height of a row, and the items in it
 * @property {(event: KeyboardEvent, item: Item, index: number, to?: number) => void} [onKey] keys that don't move, and with
 *   Shift also those that do; `to`: the row that gets the focus
 * @property {(state: {total: number, error: Error|null}) => void} [onLoad] after each block; an error is that of a block
 */

/**
 * @template Item
 * @typedef {{element: HTMLElement, load: (top?: number) => Promise<void>, refresh: () => Promise<void>, update: () => void,
 *   focus: (index: number) => Promise<void>, item: (index: number) => Item|undefined, showAll: () => Promise<void>,
 *   readonly total: number, close: () => void}} WindowedList `load` reads from the start, then scrolls to `top`; `refresh` reads again
 *   what is shown; `update` renders again what has another state
 */

/**
 * @typedef {{element: HTMLElement, measure: () => {columns: number, count: number, height: number, shown: number}, item: (index: number) => unknown,
 *   indexOf: (element: Element) => number|undefined, controls: (row: HTMLElement) => HTMLElement[], onKey?: Function,
 *   activate: (index: number) => void, rowAt: (index: number) => HTMLElement|undefined, readonly total: number}} ListParts what
 *   `list-moves.js` needs of a list
 */
