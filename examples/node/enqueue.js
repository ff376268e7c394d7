// Places an order: the row and the message that speaks of it are written in one transaction.
//
//   node enqueue.js Ada 1999
//
// Where the database is comes from the environment: PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE.
import pg from 'pg';

// tag::enqueue
async function placeOrder(client, customer, cents) {
  await client.query('begin');
  try {
    const order = await client.query('insert into orders (customer, cents) values ($1, $2) returning id', [customer, cents]);
    const payload = JSON.stringify({ order: order.rows[0].id, customer, cents });
    const message = await client.query(
      'select windlass.outbox_enqueue(p_topic => $1, p_payload => $2, p_ordering_key => $3) as id',
      ['order.placed', payload, `customer-${customer}`],
    );
    await client.query('commit');
    return message.rows[0].id;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
// end::enqueue

const [customer, cents] = process.argv.slice(2);
const client = new pg.Client();
await client.connect();
try {
  console.log(await placeOrder(client, customer, Number(cents)));
} finally {
  await client.end();
}
