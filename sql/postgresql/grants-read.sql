-- Replace windlass_monitor by the database user of your monitoring.
-- What who only looks needs, and no more: run this as the owner of the schema, after the migration. No payload, no header and no owner
-- token is among it; routines run with the rights of their caller, so one that would return such is refused.
grant usage on schema "windlass" to "windlass_monitor";
grant select on "windlass".windlass_version, "windlass".windlass_watch, "windlass".windlass_topic, "windlass".windlass_start, "windlass".windlass_action
   to "windlass_monitor";
grant select (id, created_at, updated_at, ended_at, expected_steps, members, completed_steps, failed_steps, status, fail_if_any, follow_up_id,
              outer_join_id, outbox, grouping_key, complete_topic, fail_topic, last_error)
   on "windlass".windlass_join to "windlass_monitor";
grant select on "windlass".windlass_join_member, "windlass".windlass_join_gone to "windlass_monitor";
grant execute
   on function "windlass".windlass_action_until,
      "windlass".windlass_refuse,
      "windlass".windlass_check_most,
      "windlass".windlass_is_stuck,
      "windlass".windlass_spans,
      "windlass".windlass_join_find,
      "windlass".windlass_join_list,
      "windlass".windlass_join_members
   to "windlass_monitor";
-- The outbox, for who only looks.
grant select (ordering_sequence, blocks_key, ordering_key) on "windlass"."outbox" to "windlass_monitor";
grant select on "windlass"."outbox_key", "windlass"."outbox_key_freed", "windlass"."outbox_dedup" to "windlass_monitor";
grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on "windlass"."outbox" to "windlass_monitor";
grant select on "windlass"."outbox_failure", "windlass"."outbox_listed" to "windlass_monitor";
grant execute
   on function "windlass"."outbox_ready_topics",
      "windlass"."outbox_next_due",
      "windlass"."outbox_find",
      "windlass"."outbox_failures",
      "windlass"."outbox_list",
      "windlass"."outbox_decided_topics",
      "windlass"."outbox_actions",
      "windlass"."outbox_measure",
      "windlass"."outbox_leased_near",
      "windlass"."outbox_pending",
      "windlass"."outbox_pending_gaps",
      "windlass"."outbox_pending_rest",
      "windlass"."outbox_lately",
      "windlass"."outbox_pending_met",
      "windlass"."outbox_pending_part",
      "windlass"."outbox_pending_of",
      "windlass"."outbox_pending_busy",
      "windlass"."outbox_due",
      "windlass"."outbox_due_between",
      "windlass"."outbox_stuck",
      "windlass"."outbox_lapsed",
      "windlass"."outbox_due_near",
      "windlass"."outbox_totals",
      "windlass"."outbox_waiting_sample",
      "windlass"."outbox_leases"
   to "windlass_monitor";
-- Timers and jobs, for who only looks.
grant select (unique_key, message_id) on "windlass"."outbox_timer" to "windlass_monitor";
grant select (tick_at, triggered, handed_off, output) on "windlass"."outbox_job_run" to "windlass_monitor";
grant select (version, created_at, updated_at, next_tick_at, fires_at, paused_at, last_skipped_at, skipped_ticks, period, anchor_at, jitter,
              misfire_after, misfire_runs, misfire, overlap, last_run_id, name, topic, cron, zone, job_set, problem)
   on "windlass"."outbox_job" to "windlass_monitor";
grant select on "windlass"."outbox_job_set" to "windlass_monitor";
grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on "windlass"."outbox_timer" to "windlass_monitor";
grant select on "windlass"."outbox_timer_failure", "windlass"."outbox_timer_listed" to "windlass_monitor";
grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on "windlass"."outbox_job_run" to "windlass_monitor";
grant select on "windlass"."outbox_job_run_failure", "windlass"."outbox_job_run_listed" to "windlass_monitor";
grant execute
   on function "windlass"."outbox_timer_find_key",
      "windlass"."outbox_timer_ready_topics",
      "windlass"."outbox_timer_next_due",
      "windlass"."outbox_timer_find",
      "windlass"."outbox_timer_failures",
      "windlass"."outbox_timer_list",
      "windlass"."outbox_timer_decided_topics",
      "windlass"."outbox_timer_actions",
      "windlass"."outbox_timer_measure",
      "windlass"."outbox_timer_leased_near",
      "windlass"."outbox_timer_pending",
      "windlass"."outbox_timer_pending_gaps",
      "windlass"."outbox_timer_pending_rest",
      "windlass"."outbox_timer_lately",
      "windlass"."outbox_timer_pending_met",
      "windlass"."outbox_timer_pending_part",
      "windlass"."outbox_timer_pending_of",
      "windlass"."outbox_timer_pending_busy",
      "windlass"."outbox_timer_due",
      "windlass"."outbox_timer_due_between",
      "windlass"."outbox_timer_stuck",
      "windlass"."outbox_timer_lapsed",
      "windlass"."outbox_timer_due_near",
      "windlass"."outbox_timer_totals",
      "windlass"."outbox_timer_waiting_sample",
      "windlass"."outbox_timer_leases",
      "windlass"."outbox_job_run_ready_topics",
      "windlass"."outbox_job_run_next_due",
      "windlass"."outbox_job_run_find",
      "windlass"."outbox_job_run_failures",
      "windlass"."outbox_job_run_list",
      "windlass"."outbox_job_run_decided_topics",
      "windlass"."outbox_job_run_actions",
      "windlass"."outbox_job_run_measure",
      "windlass"."outbox_job_run_leased_near",
      "windlass"."outbox_job_run_pending",
      "windlass"."outbox_job_run_pending_gaps",
      "windlass"."outbox_job_run_pending_rest",
      "windlass"."outbox_job_run_lately",
      "windlass"."outbox_job_run_pending_met",
      "windlass"."outbox_job_run_pending_part",
      "windlass"."outbox_job_run_pending_of",
      "windlass"."outbox_job_run_pending_busy",
      "windlass"."outbox_job_run_due",
      "windlass"."outbox_job_run_due_between",
      "windlass"."outbox_job_run_stuck",
      "windlass"."outbox_job_run_lapsed",
      "windlass"."outbox_job_run_due_near",
      "windlass"."outbox_job_run_totals",
      "windlass"."outbox_job_run_waiting_sample",
      "windlass"."outbox_job_run_leases",
      "windlass"."outbox_timer_delays",
      "windlass"."outbox_job_run_next",
      "windlass"."outbox_job_run_states",
      "windlass"."outbox_job_runs",
      "windlass"."outbox_jobs",
      "windlass"."outbox_job_run_delays"
   to "windlass_monitor";
-- The inbox, for who only looks.
grant select (message_id, hash) on "windlass"."inbox" to "windlass_monitor";
grant select (source, message_id, id, first_seen_at, last_seen_at, state_at, claimed_at, locked_until, retry_count, lease_expiries, requeues,
              status, processed_by, last_error, hash)
   on "windlass"."inbox_seen" to "windlass_monitor";
grant select on "windlass"."inbox_guarded" to "windlass_monitor";
grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on "windlass"."inbox" to "windlass_monitor";
grant select on "windlass"."inbox_failure", "windlass"."inbox_listed" to "windlass_monitor";
grant execute
   on function "windlass"."inbox_ready_topics",
      "windlass"."inbox_next_due",
      "windlass"."inbox_find",
      "windlass"."inbox_failures",
      "windlass"."inbox_list",
      "windlass"."inbox_decided_topics",
      "windlass"."inbox_actions",
      "windlass"."inbox_measure",
      "windlass"."inbox_leased_near",
      "windlass"."inbox_pending",
      "windlass"."inbox_pending_gaps",
      "windlass"."inbox_pending_rest",
      "windlass"."inbox_lately",
      "windlass"."inbox_pending_met",
      "windlass"."inbox_pending_part",
      "windlass"."inbox_pending_of",
      "windlass"."inbox_pending_busy",
      "windlass"."inbox_due",
      "windlass"."inbox_due_between",
      "windlass"."inbox_stuck",
      "windlass"."inbox_lapsed",
      "windlass"."inbox_due_near",
      "windlass"."inbox_totals",
      "windlass"."inbox_waiting_sample",
      "windlass"."inbox_leases",
      "windlass"."inbox_find_key",
      "windlass"."inbox_ids",
      "windlass"."inbox_list_seen"
   to "windlass_monitor";
-- The work queue, for who only looks: without what items came to.
grant select (cancel_asked_at, progress, type, turn_key, progress_text, unique_key) on "windlass"."work" to "windlass_monitor";
grant select (id, created_at, next_attempt_at, due_at, expires_at, claimed_at, locked_until, ended_at, erased_at, retry_count, lease_expiries,
              crashes, requeues, status, priority, started, awaited, keyed, topic, source, correlation_id, processed_by, last_error)
   on "windlass"."work" to "windlass_monitor";
grant select on "windlass"."work_failure", "windlass"."work_listed" to "windlass_monitor";
grant execute
   on function "windlass"."work_find_key",
      "windlass"."work_ready_topics",
      "windlass"."work_next_due",
      "windlass"."work_find",
      "windlass"."work_failures",
      "windlass"."work_list",
      "windlass"."work_decided_topics",
      "windlass"."work_actions",
      "windlass"."work_measure",
      "windlass"."work_leased_near",
      "windlass"."work_pending",
      "windlass"."work_pending_gaps",
      "windlass"."work_pending_rest",
      "windlass"."work_lately",
      "windlass"."work_pending_met",
      "windlass"."work_pending_part",
      "windlass"."work_pending_of",
      "windlass"."work_pending_busy",
      "windlass"."work_due",
      "windlass"."work_due_between",
      "windlass"."work_stuck",
      "windlass"."work_lapsed",
      "windlass"."work_due_near",
      "windlass"."work_totals",
      "windlass"."work_waiting_sample",
      "windlass"."work_leases"
   to "windlass_monitor";
-- Leases, for who only looks.
grant select on "windlass"."lease", "windlass"."lease_semaphore", "windlass"."lease_listed" to "windlass_monitor";
grant execute
   on function "windlass"."lease_find",
      "windlass"."lease_list",
      "windlass"."lease_active",
      "windlass"."lease_contention"
   to "windlass_monitor";
