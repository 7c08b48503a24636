-- What a study keeps. Times are milliseconds since 1970 on the server's clock (`…_at_ms`) or raw
-- clocks of the participant's page (all other `…_ms`). No address and no user agent is stored.
-- One text for SQLite and Postgres: text, bigint and double precision only.

create table setting (
    name text primary key,
    value text not null
);

create table study (
    study text primary key,
    task text not null,
    seed bigint not null,
    is_open bigint not null,
    n_joined bigint not null,
    n_withdrawn bigint not null,
    made_at_ms bigint not null
);

-- What is to be filled: a stimulus at an exposure in a condition, a pair, or an order of blocks.
-- `fill` is what is done and what is promised; `tie` puts cells that are equally full in random order.
create table cell (
    study text not null,
    cell bigint not null,
    name text not null,
    stimulus text not null,
    condition text,
    right_stimulus text,
    exposure_idx bigint not null,
    target bigint not null,
    n_done bigint not null,
    n_leased bigint not null,
    fill bigint not null,
    tie bigint not null,
    is_open bigint not null,
    primary key (study, cell)
);
create unique index cell_by_name on cell (study, name);
create index cell_by_fill on cell (study, is_open, exposure_idx, fill, tie);

-- One participant in one study. The participant is a keyed hash of the recruiter's id.
create table session (
    session text primary key,
    study text not null,
    participant text not null,
    is_preview bigint not null,
    ordinal bigint not null,
    seed bigint not null,
    epoch bigint not null,
    state text not null,
    code text,
    cell bigint,
    lease_until_ms bigint,
    n_blocks bigint not null,
    n_planned bigint not null,
    n_done bigint not null,
    n_total bigint not null,
    pages text not null,
    calibration text,
    screen text,
    browser text not null,
    system text not null,
    joined_at_ms bigint not null,
    seen_at_ms bigint not null,
    ended_at_ms bigint
);
create unique index session_by_participant on session (study, participant);
create index session_by_lease on session (study, lease_until_ms);

-- One opening of a session: its own token and its own chain of events.
create table epoch (
    session text not null,
    epoch bigint not null,
    acked_through bigint not null,
    head text not null,
    broken_at bigint,
    browser text not null,
    system text not null,
    joined_at_ms bigint not null,
    primary key (session, epoch)
);

-- Everything a page said, as it said it.
create table event (
    session text not null,
    epoch bigint not null,
    seq bigint not null,
    body text not null,
    hash text not null,
    received_at_ms bigint not null,
    primary key (session, epoch, seq)
);

-- An event whose place was taken by another one.
create table conflict (
    session text not null,
    epoch bigint not null,
    seq bigint not null,
    hash text not null,
    body text not null,
    received_at_ms bigint not null,
    primary key (session, epoch, seq, hash)
);

-- A planned trial, and what came of it. Made from events; can be made again from them.
create table trial (
    trial text primary key,
    study text not null,
    session text not null,
    participant text not null,
    block bigint not null,
    idx bigint not null,
    is_practice bigint not null,
    is_counted bigint not null,
    cell bigint,
    stimulus text not null,
    condition text,
    label text not null,
    source text not null,
    image text not null,
    mask text,
    right_stimulus text,
    right_source text,
    right_image text,
    recognise_as text,
    exposure_ms double precision,
    frames bigint,
    beep_ms double precision,
    options text not null,
    state text not null,
    epoch bigint,
    reason text,
    response text,
    onset_ms double precision,
    offset_ms double precision,
    response_ms double precision,
    handled_ms double precision,
    input text,
    verdict text,
    page_verdict text,
    frames_shown bigint,
    period_ms double precision,
    longest_gap_ms double precision,
    was_visible bigint,
    was_fullscreen bigint,
    pixel_ratio double precision,
    stimulus_px double precision,
    cue text,
    cue_planned_ms double precision,
    cue_sounded_ms double precision,
    base_lag_ms double precision,
    output_lag_ms double precision,
    feedback text,
    answered_at_ms bigint
);
create index trial_by_session on trial (session, idx);
create index trial_by_study on trial (study, session, idx);
create index trial_by_stimulus on trial (study, stimulus);

-- Which picture a participant has seen, in any study: never twice.
create table seen (
    participant text not null,
    source text not null,
    study text not null,
    primary key (participant, source, study)
);
