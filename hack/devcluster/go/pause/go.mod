module clawbench.dev/devcluster/pause

go 1.26
