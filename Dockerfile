# The static binary alone. Systems with an adapter need Node.js or Python next to it: copy it into an image that has them.
#
#   docker run --rm -v "$PWD:/work" -w /work brickbat check request.json
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /brickbat
COPY . .
RUN RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked --release --bin brickbat --target x86_64-unknown-linux-gnu

FROM scratch
COPY --from=build /brickbat/target/x86_64-unknown-linux-gnu/release/brickbat /brickbat
COPY --from=build /brickbat/LICENSE-MIT /brickbat/LICENSE-APACHE /
ENTRYPOINT ["/brickbat"]
