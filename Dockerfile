# gomem without its notebooks. In a clone:
#
#   docker build -t gomem .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/work" gomem report captures/mine
#
# compose.yaml also captures a service in another container.
FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /opt/gomem && /opt/gomem/bin/pip install --no-cache-dir /source

FROM python:3.13-slim
COPY --from=build /opt/gomem /opt/gomem
# A user without a home: what is kept there goes to /tmp.
ENV PATH=/opt/gomem/bin:$PATH HOME=/tmp
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["gomem"]
CMD ["--help"]
