-- Submissions whose events are on disk here and not in their tables yet: written in one place, one
-- after the other, and moved on many at a time. With them is what deciding about them needs.
create table journal (
    id integer primary key,
    session text not null,
    epoch bigint not null,
    received_at_ms bigint not null,
    tolerance double precision not null,
    lease_ms bigint not null,
    batch text not null
);
