/** Limits the work that an archived page can cause with its messages. */

const burstMax = 10;
const secondsBetween = 1;

/**
 * Runs an action for one value at a time. Of the values that arrive meanwhile, only the newest is kept. After the first
 * few values, the action runs once a second.
 *
 * @template Value
 * @param {(value: Value) => void|Promise<void>} action must not throw
 * @returns {{add: (value: Value) => void, drop: () => void, readonly waiting: Value|null, readonly isSlow: boolean}}
 */
export function newestOnly(action) {
    let waiting = null;
    let isRunning = false;
    let credit = burstMax;
    let countedAt = performance.now();

    function countCredit() {
        const now = performance.now();
        credit = Math.min(burstMax, credit + (now - countedAt) / 1000 / secondsBetween);
        countedAt = now;
        return credit;
    }

    async function run() {
        isRunning = true;
        while (waiting !== null) {
            const missing = 1 - countCredit();
            if (missing > 0) {
                await new Promise((done) => setTimeout(done, missing * secondsBetween * 1000));
                continue;
            }
            credit -= 1;
            const { value } = waiting;
            waiting = null;
            await action(value);
        }
        isRunning = false;
    }

    return {
        add(value) {
            waiting = { value };
            if (!isRunning) run();
        },

        /** Discards the waiting value. */
        drop() {
            waiting = null;
        },

        get waiting() {
            return waiting?.value ?? null;
        },

        /** Whether the waiting value is delayed by the rate limit. */
        get isSlow() {
            return countCredit() < 1;
        },
    };
}

/**
 * Returns a cache that removes its oldest answers when it is full. Failures aren't cached.
 *
 * @template Answer
 * @param {number} max
 * @returns {{get: (key: string, fetch: () => Promise<Answer>) => Promise<Answer>, clear: () => void}}
 */
export function createCache(max) {
    const answers = new Map();
    return {
        get(key, fetch) {
            if (!answers.has(key)) {
                if (answers.size >= max) answers.delete(answers.keys().next().value);
                const answer = fetch();
                answers.set(key, answer);
                answer.catch(() => {
                    if (answers.get(key) === answer) answers.delete(key);
                });
            }
            return answers.get(key);
        },

        clear: () => answers.clear(),
    };
}
