# Keeps the readings with a number; the others go to out/rejected.csv as they are.
set -eu
awk -F, 'NR > 1 {
  if ($3 ~ /^-?[0-9]+([.][0-9]+)?$/) print
  else print >"out/rejected.csv"
}' build/merged.csv >build/clean.csv
