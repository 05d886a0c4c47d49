# Ranks the stations by their highest reading.
set -eu
awk -F';' '
  { n[$1]++; if (n[$1] == 1 || $3 + 0 > top[$1] + 0) top[$1] = $3 }
  END { for (station in n) print station ";" n[station] ";" top[station] }
' build/cleaned.csv | sort -t';' -k3,3r -k1,1 | awk '{ print NR ";" $0 }' >build/ranked.csv
{ echo 'rank;station;readings;highest'; cat build/ranked.csv; } >out/report.csv
