-- The highest number of an event that is stored, so that a later one is known to be new without a look.
alter table epoch add column highest bigint not null default 0;
update epoch set highest = coalesce(
    (select max(event.seq) from event where event.session = epoch.session and event.epoch = epoch.epoch), 0);

-- A study's trials are read through its sessions, so one index by session does for both.
drop index trial_by_study;
-- Only adaptive designs look trials up by stimulus; launching one makes the index.
drop index trial_by_stimulus;
