// Handles the messages of order.placed: writes an invoice for each. Any number of these programs share the work.
//
//   node worker.js
//
// Where the database is comes from the environment: PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE.
import pg from 'pg';
import { PermanentFailure, Worker } from './outbox.js';

const database = new pg.Pool(); // the handlers' own, so that renewing a lease never waits for them
database.on('error', (error) => console.error(`lost an idle connection: ${error.message}`));

const worker = new Worker({
  // tag::handler
  async 'order.placed'(message, signal) {
    const order = JSON.parse(message.payload);
    if (!(order.cents > 0)) {
      throw new PermanentFailure(`expected a price, got: ${order.cents}`);
    }
    signal.throwIfAborted(); // the lease is lost, or the worker is stopping
    await database.query(
      'insert into invoices (message_id, customer, cents) values ($1, $2, $3) on conflict (message_id) do nothing',
      [message.id, order.customer, order.cents],
    );
  },
  // end::handler
});

process.once('SIGTERM', () => worker.stop());
process.once('SIGINT', () => worker.stop());
await worker.run();
process.exit(); // a handler that ignores its signal cannot hold the process up
