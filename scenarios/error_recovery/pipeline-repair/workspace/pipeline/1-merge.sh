# Joins the files of all stations under one header.
set -eu
head -n 1 input/brook.csv >build/merged.csv
for file in input/*.csv; do
  tail -n +1 "$file" >>build/merged.csv
done
