// A worker on the SQL interface of Windlass's outbox. It shares the work with others of its kind and with nodes in Java.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Thrown by a handler for a message that can never be handled. */
export class PermanentFailure extends Error {}

const DEFAULTS = {
  lease: 30_000, // ms; the messages of a worker that died wait for so long
  places: 10, // messages in hand at once
  attempts: 10,
  leaseExpiries: 5, // a message that ends its process every time must not do so for ever
  polling: 1_000, // ms; finds what no notification spoke of: retries, and what is due later
  grace: 10_000, // ms for the messages in hand when asked to stop
  keep: '7 days', // handled messages
};

export class Worker {
  #name = `${hostname()}-${process.pid}`;
  #inHand = new Map(); // message id => { message, owner, renewed, abort }
  #stopping = false;
  #finished = new AbortController();
  #troubled = -Infinity;
  #eagerUntil = 0;
  #woken = false;
  #resume = () => {};

  /** Handlers by topic: async (message, signal) => {...}. Returning means handled, throwing means a failed attempt. */
  constructor(handlers, options = {}) {
    this.handlers = handlers;
    this.topics = Object.keys(handlers);
    this.options = { ...DEFAULTS, ...options };
    const third = this.options.lease / 3;
    this.pool = new pg.Pool({ max: 2, keepAlive: true, connectionTimeoutMillis: third, query_timeout: third });
    this.pool.on('error', (error) => this.#trouble('keep a connection', error));
  }

  /** Works until stop() is called, and what is in hand has been finished or given back. */
  async run() {
    const third = this.options.lease / 3;
    const background = [this.#listen(), this.#every(third, () => this.#heartbeat()), this.#every(third, () => this.#maintain())];
    await this.#claimUntilStopped();
    await this.#finish();
    this.#finished.abort();
    await Promise.all(background);
    await this.pool.end();
  }

  stop() {
    this.#stopping = true;
    this.#wake();
  }

  // tag::claim
  async #claimUntilStopped() {
    while (!this.#stopping) {
      const room = this.options.places - this.#inHand.size;
      const claimed = room > 0 && (await this.#claim(room).catch((error) => this.#trouble('claim', error)));
      if (!claimed) {
        const eager = performance.now() < this.#eagerUntil;
        await this.#pause(eager ? this.options.polling / 10 : this.options.polling);
      }
    }
  }

  async #claim(limit) {
    this.topics.push(this.topics.shift()); // the first is served first, so let each be the first in turn
    const owner = randomUUID(); // a fresh one for each claim: a late answer to this one cannot touch a later one
    const renewed = performance.now(); // read before the database answers, so that we never believe in a lease too long
    const { rows } = await this.pool.query(
      `select id, topic, payload, correlation_id, headers, ordering_key, retry_count, lease_expiries
         from windlass.outbox_claim(p_owner => $1, p_lease => $2, p_limit => $3, p_topics => $4)`,
      [owner, `${this.options.lease} ms`, limit, this.topics],
    );
    for (const message of rows) {
      const held = { message, owner, renewed, abort: new AbortController() };
      this.#inHand.set(message.id, held);
      this.#work(held);
    }
    return rows.length > 0;
  }
  // end::claim

  // tag::work
  async #work(held) {
    const { message, abort } = held;
    try {
      if (message.lease_expiries >= this.options.leaseExpiries) {
        throw new PermanentFailure(`its lease ran out ${message.lease_expiries} times`);
      }
      await this.handlers[message.topic](message, abort.signal);
      await this.#settle(held, 'select windlass.outbox_ack($1, $2, p_processed_by => $3)', this.#name);
    } catch (error) {
      const hopeless = error instanceof PermanentFailure || message.retry_count + 1 >= this.options.attempts;
      const verb = hopeless ? 'fail' : 'abandon'; // which comes again after 1, 2, 4 ... 60 s
      const sql = `select windlass.outbox_${verb}($1, $2, p_processed_by => $3, p_errors => $4)`;
      await this.#settle(held, sql, this.#name, [String(error)]);
    }
  }

  /** Writes the outcome, however often that takes, as long as the message is ours. Saying it twice does no harm. */
  async #settle(held, sql, ...values) {
    const { message, owner, abort } = held;
    while (!abort.signal.aborted) {
      try {
        const { rows } = await this.pool.query({ text: sql, values: [[message.id], [owner], ...values], rowMode: 'array' });
        if (rows[0][0] === 0) {
          console.error(`${message.id} is no longer ours, its outcome was not taken`);
        }
        break;
      } catch (error) {
        this.#trouble('write an outcome', error);
        await sleep(this.options.polling);
      }
    }
    this.#drop(held);
  }

  #drop(held) {
    if (this.#inHand.get(held.message.id) === held) {
      this.#inHand.delete(held.message.id);
      this.#wake();
    }
  }
  // end::work

  // tag::heartbeat
  async #heartbeat() {
    const all = [...this.#inHand.values()];
    const asked = performance.now();
    const renewed = all.length > 0 && (await this.#renew(all).catch((error) => this.#trouble('renew leases', error)));
    for (const held of all) {
      if (renewed?.has(held.message.id)) {
        held.renewed = asked;
      } else if (renewed || performance.now() - held.renewed > this.options.lease) {
        held.abort.abort(new Error('the lease is lost')); // one heartbeat that got no answer is not a lost lease
        this.#drop(held);
      }
    }
  }

  async #renew(all) {
    const { rows } = await this.pool.query(
      'select id from windlass.outbox_heartbeat(p_ids => $1, p_owners => $2, p_lease => $3) as id',
      [all.map((held) => held.message.id), all.map((held) => held.owner), `${this.options.lease} ms`],
    );
    return new Set(rows.map((row) => row.id));
  }
  // end::heartbeat

  // tag::maintain
  async #maintain() {
    if (performance.now() - this.#troubled > this.options.lease) { // after an outage the living renew first
      await this.pool.query('select windlass.outbox_reap(p_quiet => $1)', [`${this.options.lease} ms`]);
    }
    await this.pool.query(
      'select windlass.outbox_expire(), windlass.outbox_clean(p_keep => $1), windlass.outbox_forget()',
      [this.options.keep],
    );
  }
  // end::maintain

  // tag::listen
  async #listen() {
    while (!this.#finished.signal.aborted) {
      const client = new pg.Client({ keepAlive: true });
      client.on('error', () => {}); // or the process would end; once() below sees it too
      client.on('notification', ({ payload }) => this.#heard(payload));
      try {
        await client.connect();
        await client.query('listen "windlass.windlass.outbox"');
        this.#wake(); // for what was written while nobody listened
        await once(client, 'end', { signal: this.#finished.signal });
      } catch (error) {
        this.#trouble('listen', error);
      }
      client.end().catch(() => {});
      await this.#sleep(this.options.polling);
    }
  }

  #heard(payload) {
    if (payload === '') {
      this.#eagerUntil = performance.now() + 3_000; // it speaks for several writes, some of them not committed yet
    }
    if (payload === '' || payload.startsWith('\u0001') || Object.hasOwn(this.handlers, payload)) {
      this.#wake();
    }
  }
  // end::listen

  // tag::stop
  /** Lets what is in hand finish; what does not in time is given back, which costs it no attempt. */
  async #finish() {
    const deadline = performance.now() + this.options.grace;
    while (this.#inHand.size > 0 && performance.now() < deadline) {
      await this.#pause(deadline - performance.now());
    }
    const left = [...this.#inHand.values()];
    left.forEach((held) => held.abort.abort(new Error('the worker is stopping')));
    if (left.length > 0) {
      const values = [left.map((held) => held.message.id), left.map((held) => held.owner)];
      await this.pool.query('select windlass.outbox_release($1, $2)', values).catch((error) => this.#trouble('release', error));
    }
  }
  // end::stop

  async #every(interval, task) {
    while (!this.#finished.signal.aborted) {
      await this.#sleep(interval);
      await task().catch((error) => this.#trouble('look after the outbox', error));
    }
  }

  #sleep(ms) {
    return sleep(ms, undefined, { signal: this.#finished.signal }).catch(() => {});
  }

  /** Waits, but not if wake() was called since the last time. */
  async #pause(ms) {
    let timer;
    if (!this.#woken) {
      await new Promise((resolve) => {
        this.#resume = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#woken = false;
  }

  #wake() {
    this.#woken = true;
    this.#resume();
  }

  #trouble(what, error) {
    if (!this.#finished.signal.aborted) {
      this.#troubled = performance.now();
      console.error(`could not ${what}: ${error.message}`);
    }
  }
}
