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
  crashes: 5, // a message that ends its process every time must not do so for ever
  polling: 1_000, // ms; finds what no notification spoke of: retries, and what is due later
  grace: 10_000, // ms for the messages in hand when asked to stop
  keep: '7 days', // handled messages
};

export class Worker {
  #name = `${hostname()}-${process.pid}`;
  #inHand = new Map(); // message id => { message, owner, renewed, abort }
  #stopping = false;
  #finished = new AbortController();
  #unanswered = new Map(); // owner => when it was asked, of claims that got no answer
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
    const { lease, polling } = this.options;
    const background = [
      this.#listen(),
      this.#every(lease / 10, () => this.#heartbeat()),
      this.#every(polling, () => this.#giveBack()),
      this.#every(lease / 3, () => this.#maintain()),
    ];
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
      const claimed = room > 0 && (await this.#claim(room));
      if (!claimed) {
        const eager = performance.now() < this.#eagerUntil;
        await this.#pause(eager ? this.options.polling / 10 : this.options.polling);
      }
    }
  }

  async #claim(limit) {
    this.topics.push(this.topics.shift()); // the first is served first, so let each be the first in turn
    const owner = randomUUID(); // a fresh one for each claim: a late answer to this one cannot touch a later one
    const asked = performance.now(); // read before the database answers, so that we never believe in a lease too long
    try {
      const { rows } = await this.pool.query(
        `select id, topic, payload, correlation_id, headers, ordering_key, retry_count, lease_expiries, crashes
           from windlass.outbox_claim(p_owner => $1, p_lease => $2, p_limit => $3, p_topics => $4)`,
        [owner, `${this.options.lease} ms`, limit, this.topics],
      );
      rows.forEach((message) => this.#take({ message, owner, renewed: asked, abort: new AbortController() }));
      return rows.length > 0;
    } catch (error) {
      this.#unanswered.set(owner, asked);
      this.#trouble('claim', error);
      return false;
    }
  }

  #take(held) {
    this.#inHand.set(held.message.id, held);
    this.#work(held);
  }
  // end::claim

  // tag::give-back
  /** A claim without an answer may have taken messages, or may take them yet. Nobody else gets them before the lease ends. */
  async #giveBack() {
    const owners = [...this.#unanswered.keys()];
    if (owners.length > 0) {
      await this.pool.query('select windlass.outbox_give_back(p_owner => o) from unnest($1::uuid[]) as o', [owners]);
      const over = owners.filter((owner) => performance.now() - this.#unanswered.get(owner) > this.options.lease);
      over.forEach((owner) => this.#unanswered.delete(owner));
    }
  }
  // end::give-back

  // tag::work
  async #work(held) {
    const { message, abort } = held;
    try {
      if (message.crashes >= this.options.crashes) {
        throw new PermanentFailure(`its process ended ${message.crashes} times while it was handled`);
      }
      if (message.lease_expiries === 0 || (await this.#tell(held, 'start'))) {
        await this.handlers[message.topic](message, abort.signal);
        await this.#tell(held, 'ack', { p_processed_by: this.#name });
      }
    } catch (error) {
      const hopeless = error instanceof PermanentFailure || message.retry_count + 1 >= this.options.attempts;
      const verb = hopeless ? 'fail' : 'abandon'; // which comes again after 1, 2, 4 ... 60 s
      await this.#tell(held, verb, { p_processed_by: this.#name, p_errors: [String(error)] });
    }
    this.#drop(held);
  }

  /** Says it until the database has answered, as long as the message is ours. Returns whether it was taken. */
  async #tell(held, verb, more) {
    while (!held.abort.signal.aborted) {
      const answer = await this.#call(verb, [held], more).catch((error) => this.#trouble(verb, error));
      if (answer?.lost.length > 0) {
        console.error(`${held.message.id} is no longer ours, ${verb} was not taken`);
        return false;
      }
      if (answer?.locked.length === 0) {
        return true;
      }
      await sleep(this.options.polling / 10); // no answer, or somebody has it locked: nothing is known of it yet
    }
    return false;
  }

  /** One verb for several messages. Answers how many were changed, which ones others have locked, and which are not ours. */
  async #call(verb, all, more = {}) {
    const named = Object.keys(more).map((name, i) => `, ${name} => $${i + 3}`);
    const { rows } = await this.pool.query(
      `select changed, locked, lost from windlass.outbox_${verb}(p_ids => $1, p_owners => $2${named.join('')})`,
      [all.map((held) => held.message.id), all.map((held) => held.owner), ...Object.values(more)],
    );
    return rows[0];
  }

  #drop(held) {
    if (this.#inHand.get(held.message.id) === held) {
      this.#inHand.delete(held.message.id);
      this.#wake();
    }
  }
  // end::work

  // tag::heartbeat
  /** Called every tenth of a lease; renews what was last renewed a third of a lease ago. */
  async #heartbeat() {
    const { lease } = this.options;
    const asked = performance.now();
    const due = [...this.#inHand.values()].filter((held) => asked - held.renewed > lease / 3);
    const answer =
      due.length > 0 &&
      (await this.#call('heartbeat', due, { p_lease: `${lease} ms` }).catch((error) => this.#trouble('renew leases', error)));
    for (const held of due) {
      const { id } = held.message;
      if (answer && !answer.locked.includes(id) && !answer.lost.includes(id)) {
        held.renewed = asked;
      } else if (answer?.lost.includes(id) || performance.now() - held.renewed > lease) {
        held.abort.abort(new Error('the lease is lost')); // no answer, or a locked row, is not a lost lease: it is due again
        this.#drop(held);
      }
    }
  }
  // end::heartbeat

  // tag::maintain
  async #maintain() {
    const { lease, keep } = this.options;
    await this.pool.query('select windlass.outbox_reap(p_quiet => $1, p_watched => true)', [`${lease} ms`]);
    await this.pool.query(
      'select windlass.outbox_expire(), windlass.outbox_clean(p_keep => $1), windlass.outbox_clean_dedup()',
      [keep],
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
    const [kind, ...rest] = payload.split(' ');
    const topic = rest.join(' ');
    if (payload === 'ready') {
      this.#eagerUntil = performance.now() + 3_000; // it speaks for several writes, some of them not committed yet
    }
    if (payload === 'ready' || kind === 'topics' || (kind === 'ready' && Object.hasOwn(this.handlers, topic))) {
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
    await this.#release(left).catch((error) => this.#trouble('release', error));
    await this.#giveBack().catch((error) => this.#trouble('give back', error));
  }

  /** What somebody has locked is asked for again, but not for long: its lease ends by itself. */
  async #release(left, tries = 10) {
    if (left.length > 0 && tries > 0) {
      const { locked } = await this.#call('release', left);
      await sleep(locked.length > 0 ? this.options.polling / 10 : 0);
      await this.#release(left.filter((held) => locked.includes(held.message.id)), tries - 1);
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
      console.error(`could not ${what}: ${error.message}`);
    }
  }
}
