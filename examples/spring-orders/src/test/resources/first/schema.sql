create table if not exists orders (item text not null);
