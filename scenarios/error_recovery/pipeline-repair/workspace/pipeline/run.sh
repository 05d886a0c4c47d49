#!/bin/sh
# Nightly water level report. Stops at the first stage that fails.
set -eu
export LC_ALL=C
rm -rf out
mkdir out
for stage in 1-merge 2-clean 3-rank; do
  echo "stage $stage"
  sh "pipeline/$stage.sh"
done
echo "finished: $(wc -l <build/clean.csv | tr -d ' ') readings" >out/status.txt
