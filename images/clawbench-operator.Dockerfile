# The operator: every command of `clawbench`, Node.js, and python3 with PyYAML for checkers in Python.
# Build `npm ci && npm run build` first, then with the checkout as context.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim
FROM ${BASE_IMAGE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      ca-certificates libatomic1 python3 python3-yaml \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log /var/log/alternatives.log \
 && ln -s /opt/clawbench/bin/clawbench.mjs /usr/local/bin/clawbench
COPY --chmod=0755 node_modules/node/bin/node /usr/local/bin/node
COPY --chmod=0755 dist /opt/clawbench
# A number, so that runAsNonRoot can be checked; any other works too.
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["clawbench"]
