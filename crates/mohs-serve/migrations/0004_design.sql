-- What the data of a study were collected with, as key and value: another server may not go on with
-- something else. A study without rows here was hosted before there were any.
create table design (
    study text not null,
    key text not null,
    value text not null,
    primary key (study, key)
);

-- What each stimulus is: its right answer and its pictures. `condition` is empty where there is none.
create table stimulus (
    study text not null,
    stimulus text not null,
    condition text not null,
    label text not null,
    image text not null,
    mask text not null,
    primary key (study, stimulus, condition)
);
