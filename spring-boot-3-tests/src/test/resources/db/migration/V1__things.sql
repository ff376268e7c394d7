-- It fails if Windlass has been there before.
create schema windlass;
create table things (id bigint primary key);
