# The image of a release, from the binaries of its archives. `dist/release` makes the context: a folder for each machine.
# dist/Dockerfile builds the same image from source.
FROM scratch
ARG TARGETARCH
COPY LICENSE-MIT LICENSE-APACHE /
COPY $TARGETARCH/brickbat /brickbat
ENTRYPOINT ["/brickbat"]
