-- Events are appended and never edited; only a participant's withdrawal deletes them.
create trigger event_is_final before update on event
begin
    select raise(abort, 'events are never edited');
end;
