create table orders (
    id       uuid    primary key,
    customer text    not null,
    item     text    not null,
    cents    integer not null,
    paid     boolean not null
);

create table mails (
    id        uuid        primary key, -- the id of the message: the same at every attempt
    about     uuid        not null,
    recipient text        not null,
    text      text        not null,
    sent_at   timestamptz not null default clock_timestamp()
);

create index mails_about on mails (about);

create table reports (
    written_at timestamptz not null default clock_timestamp(),
    orders     integer     not null,
    unpaid     integer     not null
);
