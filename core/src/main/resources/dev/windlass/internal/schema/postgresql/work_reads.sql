-- The work queue, for who only looks: without what items came to.
grant select (cancel_asked_at, progress, type, turn_key, progress_text, unique_key) on {schema}.{work} to {role};
