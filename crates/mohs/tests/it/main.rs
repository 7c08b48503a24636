//! The binary as people meet it: exit code, stdout and stderr of every verb.

mod adapt;
mod adapt_endpoint;
mod agreement;
mod attack;
mod attacks_score;
mod bad_input;
mod demo;
mod endpoint;
mod eval;
mod eval_killed;
mod fit;
mod guide_models;
mod import_export;
mod ladder;
mod ladder_generate;
mod ladder_review;
mod masks;
mod models;
mod mohs;
mod network;
mod pairs;
mod people;
mod predictions;
mod prepare;
mod real_data;
mod reference;
mod score_ladder;
mod serve;
mod speed_accuracy;
#[path = "../../../mohs-vision/tests/endpoint/stand_in.rs"]
mod stand_in;
mod study;
mod viewing_time;
