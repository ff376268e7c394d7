-- Version 3: internal routines with other parameters, which nobody outside the outbox calls; and three with one more column at
-- the end of their result.
drop function if exists {schema}.{outbox_pass_on}(text[], text[]);
drop function if exists {schema}.{outbox_hand_over}(text[], text[]);
drop function if exists {schema}.{outbox_promote}(text[], text[]);
drop function if exists {schema}.{outbox_requeue}(
    text, uuid[], text, timestamptz, timestamptz, text, boolean, integer, bigint, boolean);
drop function if exists {schema}.{outbox_purge}(text, uuid[], text, timestamptz, timestamptz, text, integer, bigint, boolean);
drop function if exists {schema}.{outbox_skip}(text, uuid[], text, timestamptz, timestamptz, text, integer, bigint, boolean);
