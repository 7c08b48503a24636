-- What a participant has seen follows from the trials they began, so nothing else has to be kept.
drop table seen;
create index session_of_participant on session (participant);
