-- Timers and jobs, for who only looks.
grant select (unique_key, message_id) on {schema}.{outbox_timer} to {role};
grant select (tick_at, triggered, handed_off, output) on {schema}.{outbox_job_run} to {role};
grant select (version, created_at, updated_at, next_tick_at, fires_at, paused_at, last_skipped_at, skipped_ticks, period, anchor_at, jitter,
              misfire_after, misfire_runs, misfire, overlap, last_run_id, name, topic, cron, zone, job_set, problem)
   on {schema}.{outbox_job} to {role};
grant select on {schema}.{outbox_job_set} to {role};
