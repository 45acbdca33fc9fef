/** Tells whether a request for a URL is still the latest one, and has the function that repeats it. */
export function createAttempts() {
    let count = 0;

    /** @returns {() => boolean} whether no other URL was requested since this call */
    function track() {
        const current = count;
        return () => current === count;
    }

    return {
        track,

        begin() {
            count += 1;
            return track();
        },

        /** Opens the latest URL again. Each request, and each panel, replaces this function. */
        retry() {},
    };
}
