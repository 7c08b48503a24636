#!/bin/sh
# Fills fuzz/corpus/ with fixtures and small files made from them, so that the fuzzer starts from
# real files. Builds `mohs` for a summary, unless MOHS names a built one.
set -eu
cd "$(dirname "$0")"
v1=../crates/mohs-data/fixtures/v1
foreign=../crates/mohs-data/fixtures/foreign

seed() {
    target=$1
    shift
    mkdir -p "corpus/$target"
    cp "$@" "corpus/$target/"
}

seed trials_csv "$v1/trials.csv"
seed predictions_csv "$v1/predictions.csv"
seed stimuli_csv "$v1/stimuli.csv"
seed comparisons_csv "$v1/comparisons.csv"
seed difficulty_csv "$v1/difficulty.csv"
seed exclusions_csv "$v1/exclusions.csv"
seed trials_parquet "$v1/trials.parquet" "$foreign/pandas.parquet" "$foreign/polars.parquet" "$foreign/newer.parquet"
seed study_toml "$v1/study.toml"
seed manifest_toml "$v1/eval.toml"
seed annotations_json "$v1/annotations.json"
seed coco_json "$foreign/instances.json"
seed file_list "$foreign/val.txt"
seed import_csv "$v1/trials.csv"
seed import_comparisons "$v1/comparisons.csv"
for target in import_labjs import_jspsych import_mvt_toolkit; do
    mkdir -p "corpus/$target"
    # The first byte says JSON (even) or CSV (odd).
    { printf '0'; cat "$foreign/$target.json"; } > "corpus/$target/json"
done
seed import_model_vs_human "$foreign/import_model_vs_human.csv"
seed import_psychopy "$foreign/import_psychopy.csv"
mkdir -p corpus/import_predictions
# The first byte says which table: 0 to 5, by its remainder.
printf '0' | cat - "$v1/predictions.csv" > corpus/import_predictions/rows
printf '3stimulus,category,noise,vgg\na,cat,0.1,cat\nb,dog,0.2,\n' > corpus/import_predictions/wide
printf '5{"subject_id":"m","responses":{"a":1,"b":0}}\n' > corpus/import_predictions/lines
seed mapping_toml "$foreign/mapping.toml"
networks=../crates/mohs-vision/tests/fixtures/networks
seed network_onnx "$networks"/mobilenet_v2_ts11.onnx "$networks"/odd_*.onnx "$networks"/mixer_dynamo18.onnx "$networks"/resnet_weights.onnx
mkdir -p corpus/mask_rle
printf '\012\000\012\000P155000V1' > corpus/mask_rle/square

mohs() {
    if [ -n "${MOHS:-}" ]; then
        "$MOHS" "$@"
    else
        cargo run --quiet --manifest-path ../Cargo.toml --package mohs -- "$@"
    fi
}
mohs score viewing-time "$v1/trials.csv" --stimuli "$v1/stimuli.csv" --resamples 100 \
    --format json --quiet | cargo run --quiet --example seeds
