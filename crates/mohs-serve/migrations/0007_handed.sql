-- The positions of the trials an epoch was handed, from the first to the last; none before it asked. It
-- can have shown nothing else. Of epochs of before it is not known: of sessions that are open anything
-- may still be on its way, of those that are over only what they are known to have begun.
alter table epoch add column handed_from bigint;
alter table epoch add column handed_through bigint;
update epoch set
    handed_from = (select min(trial.idx) from trial where trial.session = epoch.session
        and (trial.epoch = epoch.epoch or exists (select 1 from session
            where session.session = epoch.session and session.state = 'open'))),
    handed_through = (select max(trial.idx) from trial where trial.session = epoch.session
        and (trial.epoch = epoch.epoch or exists (select 1 from session
            where session.session = epoch.session and session.state = 'open')));
