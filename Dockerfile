# A server in a container, its vault and its index in volumes: docs/clients.md says how it is started.
FROM python:3.12-slim

# git, for a vault that is a repository: each write becomes a commit.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*

WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY sample_vault sample_vault
COPY vault_memex vault_memex
RUN pip install --no-cache-dir -c constraints.txt .

# Whoever `--user` names writes the index: a new volume takes over who may write from the folder it is mounted on.
RUN mkdir -m 1777 /vault /cache
ENV VAULT_MEMEX_VAULT=/vault VAULT_MEMEX_CACHE_DIR=/cache VAULT_MEMEX_MODEL_DIR=/cache/models HOME=/tmp
WORKDIR /vault
VOLUME ["/vault", "/cache"]

ENTRYPOINT ["vault-memex"]
CMD ["serve"]
