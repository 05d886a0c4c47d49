# The scripted runtime: a shell, the core utilities, awk, sed, grep and Node.js. The harness brings the agent itself.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim
FROM ${BASE_IMAGE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log
COPY --chmod=0755 node_modules/node/bin/node /usr/local/bin/node
USER 10001:10001
WORKDIR /tmp
