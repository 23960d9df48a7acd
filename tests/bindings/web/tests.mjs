/* tests.mjs - named tests that are counted. A program of tests ends with finish(). */
export const count = {passed: 0, failed: 0};

export async function test(name, body) {
    try {
        await body();
        count.passed++;
    } catch (error) {
        count.failed++;
        console.log(`FAIL ${name}: ${String(error.message).slice(0, 600)}`);
    }
}

export function finish() {
    console.log(`${count.passed} passed, ${count.failed} failed`);
    process.exit(count.failed > 0 ? 1 : 0);
}
