/**
 * @param {import("./api.js").Capture|null|undefined} capture
 * @returns {{status?: number, mime?: string}} of the record if the index says something else; otherwise of the index
 */
export const answerOf = (capture) => ({ status: capture?.recorded?.status ?? capture?.status, mime: capture?.recorded?.mime ?? capture?.mime });
