-- Version 3: internal routines with other parameters. Nobody outside the outbox calls them.
drop function if exists {schema}.{outbox_pass_on}(text[], text[]);
drop function if exists {schema}.{outbox_hand_over}(text[], text[]);
drop function if exists {schema}.{outbox_promote}(text[], text[]);
