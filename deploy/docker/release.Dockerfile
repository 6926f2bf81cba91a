# The image of a release, from the binaries of the release: nothing is downloaded. It has no shell.
#   tar -xzf locus-VERSION-image.tar.gz && docker build -t locus:VERSION locus-VERSION-image
#   docker run -v /etc/locus:/etc/locus:ro -v locus:/var/lib/locus -p 4306:4306 locus:VERSION
# locus.yaml must listen on 0.0.0.0, and user 10001 must be able to read it and its secrets. The image has no health check of its own:
# the container platform requests /healthz and /readyz.
FROM scratch
ARG VERSION=
# The builder sets it: amd64 or arm64.
ARG TARGETARCH
LABEL org.opencontainers.image.title=locus \
      org.opencontainers.image.description="a sharding-aware MySQL proxy" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=$VERSION
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY licenses /licenses
COPY --chown=10001:10001 state /var/lib/locus
COPY linux/$TARGETARCH/locus /locus
USER 10001:10001
VOLUME /var/lib/locus
EXPOSE 4306 8306
# SIGTERM drains.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/locus"]
CMD ["serve", "-c", "/etc/locus/locus.yaml"]
