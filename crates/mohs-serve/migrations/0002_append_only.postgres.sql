-- Events are appended and never edited; only a participant's withdrawal deletes them.
create function refuse_edit() returns trigger language plpgsql as
'begin raise exception ''events are never edited''; end';
create trigger event_is_final before update on event
for each row execute function refuse_edit();
