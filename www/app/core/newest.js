/** Work on the newest of many values: for messages that an archived page may send without end. */

const atOnceMax = 5;
const secondsBetween = 1;

/**
 * Runs an action for one value at a time. Of the values that come meanwhile only the newest waits. The first few values
 * are worked on at once, more of them one a second.
 *
 * @template Value
 * @param {(value: Value) => void|Promise<void>} action must not throw
 * @returns {{add: (value: Value) => void, drop: () => void, readonly waiting: Value|null, readonly isSlow: boolean}}
 */
export function newestOnly(action) {
    let waiting = null;
    let isRunning = false;
    let credit = atOnceMax;
    let countedAt = performance.now();

    function countCredit() {
        const now = performance.now();
        credit = Math.min(atOnceMax, credit + (now - countedAt) / 1000 / secondsBetween);
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

        /** Forgets the value that waits. */
        drop() {
            waiting = null;
        },

        get waiting() {
            return waiting?.value ?? null;
        },

        /** Whether the value that waits has to wait longer than for the action that runs. */
        get isSlow() {
            return countCredit() < 1;
        },
    };
}

/**
 * Answers that are remembered, up to a number of them; then the oldest go. A failure is not remembered.
 *
 * @template Answer
 * @param {number} max
 * @returns {{get: (key: string, ask: () => Promise<Answer>) => Promise<Answer>, clear: () => void}}
 */
export function createMemory(max) {
    const answers = new Map();
    return {
        get(key, ask) {
            if (!answers.has(key)) {
                if (answers.size >= max) answers.delete(answers.keys().next().value);
                const answer = ask();
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
