// The worker of the example with handlers that a test needs: node test-worker.js handle|hold|linger [lease in ms]
import { Worker } from './outbox.js';

const never = new Promise(() => {});
const asked = new Promise((resolve) => process.once('SIGTERM', resolve));
const handlers = {
  handle: async () => {},
  hold: async (message, signal) => {
    await Promise.race([never, new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))]);
  },
  linger: () => asked, // finishes when the worker has already been asked to stop
};
const [mode, lease = 2_000] = process.argv.slice(2);
const options = { lease: Number(lease), grace: mode === 'hold' ? 0 : 30_000 };
const worker = new Worker({ 'order.placed': handlers[mode] }, options);
process.once('SIGTERM', () => worker.stop());
await worker.run();
process.exit();
