-- The epoch in which the same browser came first, as far as it proved that by a token it kept. Who came
-- with the recruiter's id alone begins anew. Epochs of before count as the first browser's.
alter table epoch add column root bigint not null default 1;
