# A minimal Debian, made by debootstrap: what `FROM debian` is where a registry can be reached.
FROM scratch
ADD root.tar /
CMD ["/bin/bash"]
