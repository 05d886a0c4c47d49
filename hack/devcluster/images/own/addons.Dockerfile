# CoreDNS and the volume provisioner, with a shell for the provisioner's helper pods.
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "/bin"]
COPY coredns local-path-provisioner /usr/local/bin/
